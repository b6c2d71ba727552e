package refresh

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/atzero"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Target is one Forecast as the loop needs it: validated, defaults filled in, the query rendered and confined.
type Target struct {
	Key snapshot.Key
	// Generation of the object. A change of it, as of any field but those of words alone (LeadSource, ScalingSource,
	// Uncalibrated) and AtZero, rebuilds the target's state.
	Generation int64
	// Invalid says why the object cannot be served, every problem in it; the other fields may then be empty.
	Invalid string

	// Workload is what the Forecast scales, "Deployment/llama"; informative.
	Workload string
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Saturated is PromQL that yields a series above 0 where the service is at its limit, so that the demand is no less than
	// what is seen; empty where nothing says so. Its absence means that it is not.
	Saturated string
	// Unit of the demand, "requests/s"; empty where unknown.
	Unit string
	// Rate says that the demand is a rate, observed as the mean of the last minute; else it is a gauge, observed as its
	// last sample.
	Rate bool
	// Lookback is how long one bad scrape may stand in the demand (the longest range of Expr); a level must last that long
	// and two minutes or two steps more to be believed without coming again.
	Lookback time.Duration

	Step    time.Duration
	History time.Duration
	// Lead is the time from "more replicas" to "ready"; LeadSource says in words where it comes from.
	Lead       time.Duration
	LeadSource string
	// LeadPool is the warm pool that makes the lead time hold; empty where none does.
	LeadPool string
	// AtZero is when the workload stood at zero replicas: the demand is 0 where it has no sample then. A change of it takes
	// effect at the steps to come.
	AtZero atzero.Record
	// StaleAfter is the age of the newest sample beyond which nothing is served.
	StaleAfter time.Duration
	// Seasons are the cycles in which the demand comes again, ascending, each a whole number of steps; none means the
	// loop's own.
	Seasons []time.Duration
	// Models that may be chosen from, by name; empty means all. The free ones always stand by.
	Models []string
	Policy decide.Policy
	// Scalings are the autoscalers that read the value, at most decide.MaxScalings; without one an objective cannot be
	// calibrated by outcome.
	Scalings []decide.Scaling
	// ScalingSource says in words which autoscalers those are, and of others that refer to the Forecast why they are none.
	ScalingSource string
	// Uncalibrated says why the objective is not calibrated by outcome; empty where it is, or was not asked for.
	Uncalibrated string
}

// policy is that of the decision, bounded by what the autoscalers can use.
func (t *Target) policy() decide.Policy {
	p := t.Policy
	p.Usable = decide.Usable(t.Scalings)
	return p
}

// Targets is the set of Forecasts at a time; the loop asks at every step. The time decides between a lead time and the one
// that was announced to replace it, so that replicas change over at the same step. The slice and what it holds are read
// only.
type Targets interface {
	Targets(now time.Time) []Target
}
