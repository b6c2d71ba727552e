package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// The names of the policies, in the order in which they are told.
const (
	// HPA is the autoscaler as it is written, on the observed demand.
	HPA = "hpa"
	// BestTarget is the same with the target that would have been cheapest; the verdict is stated against it.
	BestTarget = "hpa-best-target"
	// Max15m serves the maximum of the last 15 minutes.
	Max15m = "max15m"
	// Offset serves the larger of now and of the same time a day and a week ago, by the lead time ahead: PromQL's offset.
	Offset = "offset"
	// HoltWinters and ARIMA serve what one model says that the maximum of the window ahead will be.
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
	// Forewarm serves what it decides for the objective.
	Forewarm = "forewarm"
	// Oracle serves the true maximum of the window ahead: nobody can.
	Oracle = "oracle"
)

// Comparison is what every policy would have done with one history.
type Comparison struct {
	Assumptions Assumptions
	// Policies are in the order of their names above; those that could not be played are left out, and Notes say why.
	Policies []Policy
	// Verdict is two sentences with their numbers; Notes are what a reader must know before they trust it.
	Verdict string
	Notes   []string
	// Shapes are what policies come to on the shapes of GPU that were given, Sharing is how fractions of GPUs are packed, and
	// Spot what it saves to have the tail of what forewarm takes on spot. Empty where they were not asked for.
	Shapes  []fleet.Trial
	Sharing *fleet.Packing
	Spot    *fleet.Split
	// Warm is what a warm pool comes to; nil where none was given.
	Warm *Warm
	// Partial says that the work was interrupted: what is here is right, but not all.
	Partial bool
}

// Assumptions are all that the figures rest on, given or derived. Every one is shown.
type Assumptions struct {
	// Source of the history in words: a file and its column, or a query and its server.
	Source string
	// Start, Duration and Step of the history; Gaps is the share of it that is missing. WarmUp of it is played and not
	// counted.
	Start    time.Time
	Duration time.Duration
	Step     time.Duration
	WarmUp   time.Duration
	Gaps     float64
	// Autoscaler that was read, such as "HorizontalPodAutoscaler/llama", and where from.
	Autoscaler string
	// Target is its AverageValue, in the metric's unit; Capacity is what a replica sustains. CapacityAssumed says that the
	// latter was not given and is taken to be the target.
	Target          float64
	Capacity        float64
	CapacityAssumed bool
	MinReplicas     int32
	MaxReplicas     int32
	// LeadTime in words: "5m0s", or "5m0s, one in ten over 8m0s", and how it is known.
	LeadTime string
	// Objective is the share that may wait longer than Wait.
	Objective float64
	Wait      time.Duration
	// GPUs of a replica, and GPUPrice of one for an hour in dollars; 0 where no price was given, and then none is shown.
	GPUs     float64
	GPUPrice float64
}

// Policy is what came of one.
type Policy struct {
	// Name is one of those above.
	Name string
	// Target that it was played with, in the metric's unit; Hindsight says that it was chosen because it would have been
	// the best.
	Target    float64
	Hindsight bool
	// Meets says that no more was late than the objective allows.
	Meets  bool
	Report simulate.Report
	// Early and LateBy are how long before, or after, the demand needed them replicas were ready, the mean over all that
	// were started for a rise. 0 where none was.
	Early, LateBy time.Duration
	// Frontier is what it costs at other targets (forewarm: objectives), from the least late to the cheapest.
	Frontier []Point
	// Course is what happened, in slots of equal length over the history that was counted.
	Course []Slot
}

// Point is one setting of a policy.
type Point struct {
	// Setting is a target in the metric's unit, or forewarm's objective.
	Setting float64
	// Late is the share of the demand that was late; Cost the replica-hours paid for over those of the demand.
	Late float64
	Cost float64
}

// Slot is a stretch of a course, for plots. Demand is in replicas of the assumed capacity.
type Slot struct {
	Start time.Time
	// Demand is the most that came; Ready and Paid are the least that was ready and the most that was paid for, and Idle the
	// most of it that a warm pool held and no replica had taken.
	Demand, Ready, Paid, Idle float64
	// Late is the share of the slot's demand that was late.
	Late float64
}
