package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/signal"
)

// queries is what is read: queries of a Prometheus, or columns of a trace.
type queries struct {
	demand, saturated, replicas string
	// unit of the demand, and what a preset's query is called; "" where unknown.
	unit, title string
}

// promQL are those that the flags name, and the preset's and the target's for the rest.
func (o *capacityOptions) promQL() (queries, error) {
	a := queries{demand: o.history.Query, saturated: o.saturated, replicas: o.replicas}
	problems := []error{o.trust.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for name, column := range map[string]string{"saturated-column": o.saturatedColumn, "replicas-column": o.replicasColumn} {
		if column != "" {
			wrong("--%s needs --trace, leave it out", name)
		}
	}
	if a.demand != "" && o.preset != "" {
		wrong("--query and --preset both define the demand, keep one")
	}
	target, err := o.workload()
	if err != nil {
		return a, errors.Join(append(problems, err)...)
	}
	if o.preset != "" {
		problems = append(problems, o.fromPreset(&a, target))
	}
	if a.saturated == "" && o.preset == "" {
		wrong("set --saturated, PromQL above 0 while the service is at its limit: ideally the length of its queue")
	}
	if a.replicas == "" && target != nil {
		if a.replicas, err = signal.ReadyReplicas(o.namespace, *target, o.trust); err != nil {
			wrong("%w: set --replicas, PromQL of them", err)
		}
	} else if a.replicas == "" {
		wrong("set --target and --namespace, whose replicas count, or --replicas, PromQL of them")
	}
	return a, errors.Join(problems...)
}

// workload is the target, nil where none is named.
func (o *capacityOptions) workload() (*signal.Target, error) {
	switch {
	case o.target == "" && o.preset != "":
		return nil, errors.New(
			"--preset needs the workload: set --target, for example deployment/llama, and --namespace",
		)
	case o.target == "":
		return nil, nil //nolint:nilnil // No target is no mistake.
	case o.namespace == "":
		return nil, errors.New("set --namespace, the target's")
	}
	target, err := cmdline.ParseTarget(o.target)
	return &target, err
}

// fromPreset fills in the demand and, unless it is named, the queue of the same server. The name of a server alone is that of
// its requests in flight.
func (o *capacityOptions) fromPreset(a *queries, target *signal.Target) error {
	name := o.preset
	if !strings.Contains(name, "/") {
		name += "/inflight"
	}
	demand, err := signal.Lookup(name)
	if err != nil {
		return err
	}
	a.unit, a.title = demand.Unit, demand.Name+" of "+o.target
	if a.demand, err = demand.Render(o.namespace, *target, o.trust); err != nil {
		return err
	}
	if a.saturated != "" {
		return nil
	}
	server, _, _ := strings.Cut(name, "/")
	queue, err := signal.Lookup(server + "/queue")
	if err != nil {
		return fmt.Errorf("%s does not say when it is at its limit (%w): set --saturated", server, err)
	}
	a.saturated, err = queue.Render(o.namespace, *target, o.trust)
	return err
}
