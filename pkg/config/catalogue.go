package config

import (
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// Catalogue makes a signal into PromQL.
type Catalogue interface {
	// Render is a preset's query for a workload in a namespace. The error of an unknown preset names the near ones.
	Render(preset, namespace string, target v1alpha1.TargetRef) (Rendered, error)
	// Confine is a user's own query, parsed and held to what the namespace may read. The error says where it does not
	// parse, or what it must not ask for.
	Confine(query, namespace string) (Rendered, error)
}

// Rendered is a query ready to be run.
type Rendered struct {
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Unit of the demand, "requests/s"; empty where unknown.
	Unit string
	// Rate says that the demand is a rate and not a gauge.
	Rate bool
	// Lookback is how long one bad sample may stand in the demand: the longest range of Expr.
	Lookback time.Duration
}
