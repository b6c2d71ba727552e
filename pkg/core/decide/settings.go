package decide

import "time"

// Mode is how the served value relates to the observed demand.
type Mode string

const (
	// Floor serves the forecast, never below the observed demand: Forewarm can only add capacity.
	Floor Mode = "Floor"
	// Forecast serves the forecast itself, which is below the observed demand before the load falls.
	Forecast Mode = "Forecast"
	// Shadow serves the observed demand; the forecast is only recorded.
	Shadow Mode = "Shadow"
)

// Settings are the user's requirements for the served value: a Quantile, or else a CostRatio, or else Late as the objective.
type Settings struct {
	// Quantile of the window peak, in [LowestQuantile, HighestQuantile]; 0 for none.
	Quantile float64
	// CostRatio is how many idle replicas cost as much as one replica's worth of late demand; 0 for none.
	CostRatio float64
	// Late is the objective: the share of the demand that may be late, in (0, 1). Demand is late that waits longer than Wait;
	// 0 means 30 s.
	Late float64
	Wait time.Duration
	// BadHours: Late limits the share of the demand that arrives in bad hours (sim.IsBadHour) instead.
	BadHours bool
	// Over is the period of the objective's budget, in whole hours; 0 means 7 days, or 14 days with BadHours.
	Over time.Duration
	// Target is the demand that one replica sustains, in the metric's unit; 0 if it is unknown. Without it an objective and
	// a cost ratio cannot be calibrated, and the quantile 0.95 is served.
	Target float64
	// MaxCapacity is the demand that maxReplicas sustain: a larger value changes nothing. 0 means no limit.
	MaxCapacity float64
	// ZeroBelow is the value below which a workload that may scale to zero is idle; 0 for other workloads. See [ZeroBelow].
	ZeroBelow float64
	// Lead is the lead time; an objective's value is held for half of it.
	Lead time.Duration
	// Window is the lead window, over which the demand is forecast. Only the reason uses it.
	Window time.Duration
	// Mode is Floor if empty.
	Mode Mode
}

// defaultQuantile is served instead of an objective when the capacity of a replica is unknown.
const defaultQuantile = 0.95

// ByHeadroom reports whether headroom is served, for an objective or a cost ratio; otherwise the quantile Level is served.
func (s Settings) ByHeadroom() bool { return s.Quantile == 0 && s.Target > 0 }

// Level is the quantile that is served if no headroom is.
func (s Settings) Level() float64 {
	if s.Quantile != 0 {
		return s.Quantile
	}
	return defaultQuantile
}
