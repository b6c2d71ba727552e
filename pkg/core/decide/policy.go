package decide

import "time"

// Mode says how the served value relates to the observed demand.
type Mode string

const (
	// Floor serves the forecast, never below the observed demand: forewarm can only add capacity.
	Floor Mode = "Floor"
	// Forecast serves the forecast as it is, below the observed demand where the load is about to fall.
	Forecast Mode = "Forecast"
	// Shadow serves the observed demand; the forecast is only recorded.
	Shadow Mode = "Shadow"
)

// Policy is what a user asks of the served value.
type Policy struct {
	// Quantile of the window's maximum, in [Lowest, Highest]. 0 means that CostRatio rules, or else Late.
	Quantile float64
	// CostRatio is how many idle replicas cost as much as one replica's worth of late demand; 0 means that Late rules.
	CostRatio float64
	// Late is the share of demand that may be late, in (0, 1); Wait is how long demand may wait without being late,
	// 30 s where it is 0.
	Late float64
	Wait time.Duration
	// Target is the demand that one replica sustains, in the metric's unit; 0 where it is not known. An objective and a
	// cost ratio need it to be calibrated by outcome; without it DefaultQuantile stands in.
	Target float64
	// Usable is the largest value that changes anything: what all replicas that there may be sustain. 0 is no bound.
	Usable float64
	// Lead is the time from "more replicas" to "ready"; an objective's value is held for half of it.
	Lead time.Duration
	// Mode is Floor where empty.
	Mode Mode
}

// DefaultQuantile serves where an objective cannot be calibrated because the capacity of a replica is not known.
const DefaultQuantile = 0.95

// ByOutcome says whether the margin follows from the objective or the cost ratio; otherwise Level is served.
func (p Policy) ByOutcome() bool { return p.Quantile == 0 && p.Target > 0 }

// Level is the quantile that is served where the policy is not by outcome.
func (p Policy) Level() float64 {
	if p.Quantile != 0 {
		return p.Quantile
	}
	return DefaultQuantile
}
