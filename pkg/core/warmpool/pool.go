package warmpool

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
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
	// Budget is the idle GPU-hours allowed per day (UTC); 0 for no limit. Min and Fallback are held even beyond it: the
	// user asked for them in any case.
	Budget float64
	// Split is true with two capacity types: the first holds the median of what is wanted, the second the rest.
	Split bool
	// Pod is the lead time of a pod on an existing node, Node that of a node.
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

// Outlook is what is known of a member's future demand.
type Outlook struct {
	// Unreliable is why the forecast must not be used (it is stale, still warming, worse than the last value), in words
	// that continue "llama is …"; empty where it is reliable.
	Unreliable string
	// Served is the value that its autoscalers read now, Observed the demand.
	Served, Observed float64
	// Windows are the distributions of the demand's maximum over windows of growing horizon, from the selected model.
	Windows []windowpeak.Window
	// Recent is the demand of about the last day on a coarse grid, NaN for gaps. It shows how the members move
	// together.
	Recent forecast.Series
}

// Capacity is the capacity of a pool at a moment, in chunks.
type Capacity struct {
	// Held were requested from the actuator; Ready of them are ready: each has its place on a node.
	Held, Ready int
}

// Plan is what a pool should hold, and why.
type Plan struct {
	// Want is the number of chunks to hold: Base of the first capacity type, Tail of the second.
	Want, Base, Tail int
	// Pod and Node are the needs over the two windows before the limits: chunks beyond those of replicas that have a
	// place or wait for one.
	Pod, Node int
	// State of the pool: Ready, Filling, FallingBack or OverBudget.
	State State
	// Message explains the plan with its numbers; Next describes the next change and its time, as far as is known.
	Message, Next string
	// Borrowed are chunks that were ready and that members' pods have taken since.
	Borrowed int
	// Idle are today's idle GPU-hours, Left those that remain of the budget (meaningless without one).
	Idle, Left float64
	// Covers is true where the pool has been ready long enough for all that its members may need within the window of a
	// pod, at least one replica. They then use the shorter lead time. It is meaningless where nothing executes the plan
	// (mode Recommend).
	Covers bool
}

// State is the state of a pool.
type State string

// The states of a plan.
const (
	// Ready: the pool holds what it wants.
	Ready State = "Ready"
	// Filling: not all that it wants is ready yet.
	Filling State = "Filling"
	// FallingBack: forecasts are stale or poor, and at least the fallback is held.
	FallingBack State = "FallingBack"
	// OverBudget: the budget is spent, and at most the fallback is held.
	OverBudget State = "OverBudget"
)

// distributionWithin returns the distribution of a member's maximum over a horizon. Below the shortest window it is
// that of the shortest. Beyond the longest, the quantiles are extrapolated from the last two windows in the square root
// of the horizon, as the spread of a random walk grows; from a single window, their distances from its median are.
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

// monotone returns the quantiles made non-negative and non-crossing.
func monotone(q windowpeak.Quantiles) windowpeak.Quantiles {
	least := 0.0
	for i, v := range q {
		least = max(least, v)
		q[i] = least
	}
	return q
}

// usable reports whether there are windows, ascending in horizon and finite.
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
		return Outlook{Unreliable: "not loaded yet"}
	}
	out := Outlook{Served: e.Decision.Value, Observed: e.Observed, Recent: e.Recent}
	// The selected candidate may forecast the lead window alone; a pool looks further ahead.
	skill := e.Skill
	i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool {
		return strings.EqualFold(c.Name, e.PathModel)
	})
	if i >= 0 {
		out.Windows, skill = e.Candidates[i].Windows, e.Candidates[i].Skill
	}
	out.Unreliable = unreliableReason(e, now, skill, len(out.Windows) > 0)
	return out
}

// minSkill is the lowest skill against the last value of a reliable member. The skill of a selected baseline may be a
// little below 0 before another replaces it.
const minSkill = -0.05

// unreliableReason returns why an entry is unreliable, in words that continue "llama is …"; empty where it is not.
func unreliableReason(e *snapshot.ForecastSnapshot, now time.Time, skill float64, distributed bool) string {
	switch state := e.StateAt(now); {
	case state == snapshot.Stale:
		return fmt.Sprintf("stale: its newest sample is %s old", humanize.Span(now.Sub(e.SampleTime)))
	case state == snapshot.Warming:
		return "still warming up"
	case state == snapshot.Pending:
		return "without a history yet"
	case state == snapshot.Invalid:
		return "invalid"
	case state == snapshot.FallingBack || e.Fallback:
		return "falling back"
	case skill < minSkill:
		return fmt.Sprintf("poorly forecast: its skill against the last value is %.0f %%, below %.0f %%",
			100*skill, 100*minSkill)
	case !distributed:
		return "without a forecast yet"
	}
	return ""
}
