package warmpool

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Pool is the spec of a pool, with defaults.
type Pool struct {
	// Quantile of the members' summed demand at its maximum within a window that the pool covers; in [0.5,
	// windowpeak.HighestQuantile].
	Quantile float64
	// Min and Max limit the held chunks. Fallback is held at least while forecasts are stale or poor, and at most once
	// the budget is spent.
	Min, Max, Fallback int
	// GPUs is the number of physical GPUs of a chunk, the unit of idle time.
	GPUs float64
	// Budget is the idle GPU-hours allowed per day (UTC); 0 for no limit. Min and Fallback are held even beyond the budget, because the
	// user requested them explicitly.
	Budget float64
	// Split: there are two capacity types. The first holds the median of the need, and the second holds the rest.
	Split bool
	// Pod is the lead time of a pod on an existing node; Node is the lead time of a node.
	Pod, Node time.Duration
}

// Member is one Forecast of a pool at a moment.
type Member struct {
	// Name of the Forecast.
	Name string
	// Chunks per replica, more than 0; Target is the demand that a replica sustains, in the demand's unit.
	Chunks, Target float64
	// MinReplicas and MaxReplicas are the limits of its autoscalers; 0 is no limit.
	MinReplicas, MaxReplicas int
	// Placed replicas have a place on a node; Waiting replicas have none yet.
	Placed, Waiting int
	// Outlook of its demand.
	Outlook Outlook
}

// Outlook is what is known about the future demand of a member.
type Outlook struct {
	// Unreliable is why the forecast must not be used: for example, it is stale, still warming up, or worse than the last value. The text
	// continues the name of a Forecast: "is stale". It is empty if the forecast is reliable.
	Unreliable string
	// Served is the value that its autoscalers read now, Observed the demand.
	Served, Observed float64
	// Windows are the distributions of the demand's maximum over windows of growing horizon, from the selected model.
	Windows []windowpeak.Window
	// Recent is the demand of about the last day on a coarse grid, NaN for gaps. It shows how the demands of the members
	// correlate.
	Recent forecast.Series
}

// Capacity is the capacity of a pool at a moment, in chunks.
type Capacity struct {
	// Held is the number of chunks that were requested from the actuator. Ready is the number of them that are ready, so that each has its
	// place on a node.
	Held, Ready int
}

// Plan is what a pool should hold, and why.
type Plan struct {
	// Want is the number of chunks to hold: Base of the first capacity type, Tail of the second.
	Want, Base, Tail int
	// Pod and Node are the needs over the two windows before the limits, in addition to the chunks of replicas that are placed or
	// waiting.
	Pod, Node int
	// State of the pool: Ready, Filling, FallingBack or OverBudget.
	State State
	// Message explains the plan with its numbers. Next describes the next changes and their times, as far as they are known.
	Message, Next string
	// Borrowed are chunks that were ready and are now used by pods of members.
	Borrowed int
	// Idle is the number of idle GPU-hours today; Left is the rest of the budget (meaningless without a budget).
	Idle, Left float64
	// Covers is true if the pool has been ready long enough with all chunks that its members may need within the window of a pod, and
	// at least with one replica. The members then use the shorter lead time. It is meaningless in mode Recommend, in which Forewarm
	// does not execute the plan.
	Covers bool
}

// State is the state of a pool.
type State string

// The states of a plan.
const (
	// Ready: all chunks that the pool should hold are ready.
	Ready State = "Ready"
	// Filling: some chunks are not ready yet.
	Filling State = "Filling"
	// FallingBack: forecasts are stale or poor, so the pool holds at least the fallback.
	FallingBack State = "FallingBack"
	// OverBudget: the budget is spent, so the pool holds at most the fallback.
	OverBudget State = "OverBudget"
)

// distributionWithin returns the distribution of a member's maximum over a horizon. For a horizon below the shortest window, it is the
// distribution of the shortest window. Beyond the longest window, the quantiles are extrapolated from the last two windows with the
// square root of the horizon, like the spread of a random walk. With a single window, the distances from its median are extrapolated.
func distributionWithin(windows []windowpeak.Window, horizon time.Duration) windowpeak.Quantiles {
	last := len(windows) - 1
	switch {
	case horizon <= windows[0].Horizon:
		return monotone(windows[0].Quantiles)
	case horizon <= windows[last].Horizon:
		q, _ := windowpeak.QuantilesAtHorizon(windows, horizon)
		return monotone(q)
	}
	to, from := windows[last], windows[max(last-1, 0)]
	root := func(d time.Duration) float64 { return math.Sqrt(d.Seconds()) }
	out := to.Quantiles
	for i, v := range to.Quantiles {
		if last == 0 {
			median := to.Quantiles.At(0.5)
			out[i] = median + (v-median)*root(horizon)/root(to.Horizon)
			continue
		}
		rise := max(0, v-from.Quantiles[i]) // The maximum over a longer window is no lower.
		out[i] = v + rise*(root(horizon)-root(to.Horizon))/(root(to.Horizon)-root(from.Horizon))
	}
	return monotone(out)
}

// monotone returns the quantiles, raised where necessary so that none is negative or below the quantile before it.
func monotone(q windowpeak.Quantiles) windowpeak.Quantiles {
	least := 0.0
	for i, v := range q {
		least = max(least, v)
		q[i] = least
	}
	return q
}

// usable reports whether there are windows, and whether they ascend in horizon and all quantiles are finite.
func usable(windows []windowpeak.Window) bool {
	before := time.Duration(0)
	for _, w := range windows {
		if w.Horizon <= before {
			return false
		}
		before = w.Horizon
		for _, v := range w.Quantiles {
			if math.IsNaN(v) || math.Abs(v) > maxDemand {
				return false
			}
		}
	}
	return len(windows) > 0
}

// OutlookOf returns the outlook of a Forecast's entry at the time now. The entry may be nil, before there is one.
func OutlookOf(e *snapshot.ForecastSnapshot, now time.Time) Outlook {
	if e == nil {
		return Outlook{Unreliable: e.Doubt(now)}
	}
	out := Outlook{Served: e.Decision.Value, Observed: e.Observed, Recent: e.Recent}
	// The selected candidate may forecast only the lead window, but a pool looks further ahead.
	skill := e.Skill
	if c := e.PathCandidate(); c != nil {
		out.Windows, skill = c.Windows, c.Skill
	}
	out.Unreliable = unreliableReason(e, now, skill, len(out.Windows) > 0)
	return out
}

// minSkill is the lowest skill of a reliable member, compared with the last value. The skill of a selected baseline may be slightly below 0
// until another candidate replaces it.
const minSkill = -0.05

// unreliableReason returns why an entry is unreliable, in words that continue the name of a Forecast: "is stale"; empty if it is reliable.
func unreliableReason(e *snapshot.ForecastSnapshot, now time.Time, skill float64, distributed bool) string {
	switch doubt := e.Doubt(now); {
	case doubt != "":
		return doubt
	case skill < minSkill:
		return fmt.Sprintf("is poorly forecast: its skill compared with the last value is %.0f %%, which is below "+
			"%.0f %%",
			100*skill, 100*minSkill)
	case !distributed:
		return "has no forecast yet"
	}
	return ""
}
