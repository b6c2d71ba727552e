package warmpool

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Pool is what a user asks of a pool, defaults filled in.
type Pool struct {
	// Quantile of what the members want together, at its highest within a window, that is to be covered; in
	// [0.5, windowpeak.Highest].
	Quantile float64
	// Min and Max bound the chunks held; Fallback is how many are held at least while forecasts are stale or poor, and at
	// most once the budget is spent.
	Min, Max, Fallback int
	// GPUs are the physical GPUs of a chunk: what idle time is counted in.
	GPUs float64
	// Budget is how many GPU-hours may stand idle in a day (UTC); 0 for no bound. Min and Fallback are held even then: they
	// are what the user asked for in any case.
	Budget float64
	// Split says that there are two capacity types: the first holds what is wanted half of the time, the second the rest.
	Split bool
	// Pod is how long a pod takes on a node that is there, Node how long a node takes before that.
	Pod, Node time.Duration
}

// Member is one Forecast of a pool at a moment.
type Member struct {
	// Name of the Forecast.
	Name string
	// Chunks that a replica takes, more than 0; Target is the demand that it sustains, in the demand's unit.
	Chunks, Target float64
	// MinReplicas and MaxReplicas are the bounds of its autoscalers; 0 is no bound.
	MinReplicas, MaxReplicas int
	// Placed replicas have a place on a node; Waiting ones have none yet.
	Placed, Waiting int
	// Outlook is what is known of its demand.
	Outlook Outlook
}

// Outlook is what is known of a member's demand.
type Outlook struct {
	// Doubt says why nothing should be planned by it (it is stale, still warming, worse than the last value), in words that
	// continue "llama is …"; empty where it is sound.
	Doubt string
	// Served is the value that its autoscalers read now; Observed is the demand.
	Served, Observed float64
	// Windows are the distributions of the demand's maximum over windows of growing horizon, as the serving model has them.
	Windows []windowpeak.Window
	// Recent is the demand of the last day or so on a coarse grid, NaN for gaps: how the members move together.
	Recent forecast.Series
}

// Capacity is what a pool holds at a moment, in chunks.
type Capacity struct {
	// Held were asked of the actuator, Ready of them are there: a node is held by them and nobody else.
	Held, Ready int
}

// Plan is what a pool should hold, and why.
type Plan struct {
	// Want are the chunks to hold: Base of the first capacity type, Tail of the second.
	Want, Base, Tail int
	// Pod and Node are what was asked for by the two windows, before the bounds: chunks beyond those that have a place or
	// wait for one.
	Pod, Node int
	// State of the pool in a word: Ready, Filling, FallingBack or OverBudget.
	State State
	// Why is one sentence with the numbers; Next says what changes next and when, as far as is known.
	Why, Next string
	// Borrowed are chunks that were ready, and that members' pods have taken since.
	Borrowed int
	// Idle are the GPU-hours that stood idle today, Left those that still may (meaningless without a budget).
	Idle, Left float64
	// Covers says that the pool stands ready for all that its members may want within the window of a pod, one replica at
	// least, and has for long enough: they need not look ahead further than that. It means nothing where nobody holds the
	// plan (mode Recommend).
	Covers bool
}

// State is how a pool fares, in a word.
type State string

// The states of a plan.
const (
	// Ready: the pool holds what it wants.
	Ready State = "Ready"
	// Filling: it was asked to hold more than is there yet.
	Filling State = "Filling"
	// FallingBack: the forecasts are stale or poor, the fallback is held.
	FallingBack State = "FallingBack"
	// OverBudget: the budget is spent, the fallback is held.
	OverBudget State = "OverBudget"
)
