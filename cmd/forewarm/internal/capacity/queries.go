package capacity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/signal"
)

// signals says what to query from Prometheus.
type signals struct {
	history.Workload

	// saturated and replicas are PromQL. If they are empty, the queue of the preset's server and the replicas of the target are used.
	saturated, replicas string
}

// queries has what is read: PromQL queries, or columns of a trace.
type queries struct {
	demand, saturated, replicas string
	// unit is the unit of the demand, and title is the title of a preset's query. Each is empty if it is unknown.
	unit, title string
}

// promQL returns the queries of the demand and of the signals. Missing queries are derived from the preset and the target.
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

// fromPreset sets the demand. Unless another signal is given, it also sets the queue of the same server.
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
