package capacity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/signal"
)

// signals say what to ask a Prometheus for.
type signals struct {
	// preset of the demand; empty for a query.
	preset string
	// target is the workload, KIND/NAME; empty where none is needed.
	target, namespace string
	// saturated and replicas are PromQL; empty for the queue of the preset's server, and for the target's.
	saturated, replicas string
	trust               signal.Trust
}

// queries is what is read: queries of a Prometheus, or columns of a trace.
type queries struct {
	demand, saturated, replicas string
	// unit of the demand, and what a preset's query is called; "" where unknown.
	unit, title string
}

// promQL are the queries of the demand and of the signals, and the preset's and the target's for the rest.
func promQL(s signals, demand string) (queries, error) {
	a := queries{demand: demand, saturated: s.saturated, replicas: s.replicas}
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if demand != "" && s.preset != "" {
		wrong("--query and --preset both define the demand, keep one")
	}
	var target signal.Target
	var err error
	switch {
	case s.target == "" && s.preset != "":
		err = errors.New("--preset needs the workload: set --target, for example deployment/llama, and --namespace")
	case s.target != "" && s.namespace == "":
		err = errors.New("set --namespace, the target's")
	case s.target != "":
		target, err = cmdline.ParseTarget(s.target)
	}
	if err != nil {
		return a, errors.Join(append(problems, err)...)
	}
	switch {
	case s.preset != "":
		problems = append(problems, fromPreset(&a, s, target))
	case a.saturated == "":
		wrong("set --saturated, PromQL above 0 while the service is at its limit: ideally the length of its queue")
	}
	switch {
	case a.replicas != "":
	case s.target == "":
		wrong("set --target and --namespace, whose replicas count, or --replicas, PromQL of them")
	default:
		if a.replicas, err = signal.ReadyReplicas(s.namespace, target, s.trust); err != nil {
			wrong("%w: set --replicas, PromQL of them", err)
		}
	}
	return a, errors.Join(problems...)
}

// fromPreset fills in the demand and, unless it is named, the queue of the same server. The name of a server alone is that of
// its requests in flight.
func fromPreset(a *queries, s signals, target signal.Target) error {
	name := s.preset
	if !strings.Contains(name, "/") {
		name += "/inflight"
	}
	demand, err := signal.Lookup(name)
	if err != nil {
		return err
	}
	a.unit, a.title = demand.Unit, demand.Name+" of "+s.target
	if a.demand, err = demand.Render(s.namespace, target, s.trust); err != nil || a.saturated != "" {
		return err
	}
	server, _, _ := strings.Cut(name, "/")
	queue, err := signal.Lookup(server + "/queue")
	if err != nil {
		return fmt.Errorf("%s does not say when it is at its limit (%w): set --saturated", server, err)
	}
	a.saturated, err = queue.Render(s.namespace, target, s.trust)
	return err
}
