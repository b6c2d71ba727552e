package capacity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/signal"
)

// signals say what to ask a Prometheus for.
type signals struct {
	history.Workload

	// saturated and replicas are PromQL; empty for the queue of the preset's server, and for the target's.
	saturated, replicas string
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
	var target signal.Target
	var err error
	switch {
	case s.Target == "" && s.Preset != "":
		err = errors.New("--preset needs the workload: set --target, for example deployment/llama, and --namespace")
	case s.Target != "" && s.Namespace == "":
		err = errors.New("set --namespace to the namespace of the target")
	case s.Target != "":
		target, err = cmdline.ParseTarget(s.Target)
	}
	if err != nil {
		return a, errors.Join(append(problems, err)...)
	}
	switch {
	case s.Preset != "":
		problems = append(problems, fromPreset(&a, s, target))
	case a.saturated == "":
		wrong("set --saturated to a query that is above 0 while the service is at its limit, ideally its queue length")
	}
	switch {
	case a.replicas != "":
	case s.Target == "":
		wrong("set --target and --namespace, or set --replicas to a query for the number of ready replicas")
	default:
		if a.replicas, err = signal.ReadyReplicas(s.Namespace, target, s.Trust); err != nil {
			wrong("%w: set --replicas to a query for the number of ready replicas", err)
		}
	}
	return a, errors.Join(problems...)
}

// fromPreset fills in the demand and, unless it is named, the queue of the same server.
func fromPreset(a *queries, s signals, target signal.Target) error {
	demand, promQL, err := s.Demand(target)
	a.demand, a.unit, a.title = promQL, demand.Unit, demand.Name+" of "+s.Target
	if err != nil || a.saturated != "" {
		return err
	}
	server, _, _ := strings.Cut(demand.Name, "/")
	queue, err := signal.Lookup(server + "/queue")
	if err != nil {
		return fmt.Errorf("%s does not say when it is at its limit (%w): set --saturated", server, err)
	}
	a.saturated, err = queue.Render(s.Namespace, target, s.Trust)
	return err
}
