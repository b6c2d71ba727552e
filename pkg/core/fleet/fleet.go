package fleet

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Fleet is a fixed number of GPUs at a moment.
type Fleet struct {
	// GPUs is the number of GPUs. Other is how many of them pods hold that belong neither to members nor to batch work.
	GPUs, Other float64
	// Members have the first claim on the GPUs. Batch are the consumers of what they leave.
	Members []Member
	Batch   []Consumer
}

// Consumer is batch work that uses spare GPUs.
type Consumer struct {
	Name string
	// GPUs of a replica. Share is the weight of its part of the spare GPUs.
	GPUs, Share float64
	// Run is how long a replica runs, at most. It keeps its GPUs that long.
	Run time.Duration
	// Running is how many replicas hold GPUs or wait for them.
	Running int
}

// Member is a Forecast whose workload runs on the fleet, at a moment.
type Member struct {
	// Name of the Forecast.
	Name string
	// GPUs of a replica; Target is the demand that a replica sustains, in the demand's unit.
	GPUs, Target float64
	// MinReplicas and MaxReplicas are the limits of its autoscalers; a MaxReplicas of 0 is no limit.
	MinReplicas, MaxReplicas int
	// Present replicas hold GPUs or wait for them, and include those that are terminating.
	Present int
	Outlook
}

// Outlook is what is known about the demand of a member.
type Outlook struct {
	// Unreliable is why the forecast must not be used, in words that continue the name of a Forecast: "is stale". It is empty if the forecast
	// is reliable.
	Unreliable string
	// Served is the value that its autoscalers read now. ServedPeaks are the highest values that they read in each 5 minutes, oldest first;
	// NaN for gaps.
	Served      float64
	ServedPeaks forecast.Series
	// Windows are the distributions of the demand's maximum over windows of growing horizon. Window is its lead window.
	Windows []windowpeak.Window
	Window  time.Duration
	// Events are its announced events of the next time.
	Events []event.Occurrence
	// Hours are the means of the demand in the last hours, without the effects of events; NaN for gaps. NextDay are the expected means of the
	// next day, with these effects. Each mean is at the time of its beginning. Both are empty until they are computed.
	Hours, NextDay forecast.Series
}

const (
	// maxReplicas and maxGPUs are larger than any cluster.
	maxReplicas = 1_000_000
	maxGPUs     = 10_000_000
	// grain is the tolerance for rounding errors of sums of fractions.
	grain = 1e-6
)

// most returns the GPUs of all replicas that the member may ever have; +Inf without a limit.
func (m *Member) most() float64 {
	if m.MaxReplicas <= 0 {
		return math.Inf(1)
	}
	return m.GPUs * float64(min(max(m.MaxReplicas, m.MinReplicas), maxReplicas))
}

// gpus returns the GPUs that the member's autoscalers ask for if they read a value.
func (m *Member) gpus(value float64) float64 { return m.limited(math.Ceil(value/m.Target - grain)) }

// limited returns the GPUs of a number of replicas within the member's limits.
func (m *Member) limited(replicas float64) float64 {
	replicas = math.Max(replicas, float64(m.MinReplicas))
	if m.MaxReplicas > 0 {
		replicas = math.Min(replicas, float64(m.MaxReplicas))
	}
	return m.GPUs * math.Min(replicas, maxReplicas)
}

// now returns the GPUs that the member holds or asks for now.
func (m *Member) now() float64 {
	replicas := max(m.Present, m.MinReplicas, 0)
	held := m.GPUs * float64(min(replicas, maxReplicas))
	if m.valid() && m.Served >= 0 && m.Served <= maxDemand {
		held = math.Max(held, m.gpus(m.Served))
	}
	return held
}

// maxDemand is the largest valid demand.
const maxDemand = 1e100

func (m *Member) valid() bool { return m.GPUs > 0 && m.Target > 0 && m.Target <= maxDemand }

// ahead returns the GPUs that the member's own forecast asks for within a run: a high quantile of the demand's maximum over the run and the
// lead window that its autoscalers look ahead. The windows may be shorter than that. Then events that begin later are added.
func (m *Member) ahead(now time.Time, run time.Duration) float64 {
	high, reach := 0.0, time.Duration(0)
	if n := len(m.Windows); n > 0 {
		reach = min(max(run+m.Window, m.Windows[0].Horizon), m.Windows[n-1].Horizon)
		if q, ok := windowpeak.QuantilesAtHorizon(m.Windows, reach); ok {
			high = q.At(aheadQuantile)
		}
	}
	usual, replicas := high, 0
	for i := range m.Events {
		e := &m.Events[i]
		if !e.Start.Before(now.Add(run+m.Window)) || !e.End.After(now) {
			continue
		}
		replicas = max(replicas, int(e.Replicas))
		if e.Start.After(now.Add(reach)) {
			high = max(high, usual*e.Times, e.AtLeast)
		}
	}
	if !(high >= 0) {
		high = 0
	}
	return math.Max(m.gpus(math.Min(high, maxDemand)), m.limited(float64(replicas)))
}

// aheadQuantile is the level of a member's own forecast. It matters for what the past does not show: an event, or a new level. On recorded
// demand without events, 0.5 to 0.9 have the same result.
const aheadQuantile = 0.9
