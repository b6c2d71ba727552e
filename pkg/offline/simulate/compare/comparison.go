package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Names of the policies, in the order of the report.
const (
	// HPA is the autoscaler as written, on the observed demand.
	HPA = "hpa"
	// BestTarget is the same with the cheapest target in hindsight.
	BestTarget = "hpa-best-target"
	// Max15m serves the maximum of the last 15 minutes.
	Max15m = "max15m"
	// Offset serves the larger of now and of the same time a day and a week ago, by the lead time ahead: PromQL's offset.
	Offset = "offset"
	// HoltWinters and ARIMA serve one model's forecast of the maximum of the window ahead.
	HoltWinters = "holt-winters"
	ARIMA       = "arima"
	// Forewarm serves what it decides for the objective.
	Forewarm = "forewarm"
	// Oracle serves the actual maximum of the window ahead, which no one can know.
	Oracle = "oracle"
)

// Comparison is the result of every policy on one history.
type Comparison struct {
	Assumptions Assumptions
	// Policies are in the order of their names above; those that could not be played are left out, and Notes say why.
	Policies []PolicyResult
	// Judged compares forewarm with hpa at equal reliability; nil where one of them was not played.
	Judged *verdict.Verdict
	// Verdict is the result in words, with its numbers; empty where NoVerdict is why there is none. Notes are its caveats.
	Verdict, NoVerdict string
	Notes              []string
	// Doubt is why the values cannot be a demand; empty if they may be one.
	Doubt string
	// Scenarios are Forewarm's results with one thing changed, in the order of the questions; empty if none was asked.
	Scenarios []Outcome
	// WarmPool is what a warm pool comes to; nil where none was given.
	WarmPool *PoolResult
	// Forecasts is how accurate the forecasts are; nil if not requested.
	Forecasts *accuracy.Result
	// Partial is true if the work was interrupted: the results are correct but incomplete.
	Partial bool
}

// Assumptions are everything that the figures depend on, given or derived. All are shown.
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
	// LeadTime as text: "5m0s (given)", or "5m0s, p90 8m0s (given)".
	LeadTime string
	// Objective is the share that may wait longer than Wait or, with BadHours, that may arrive in bad hours.
	Objective float64
	BadHours  bool
	Wait      time.Duration
	// Deferrable is the share of the demand that may wait until the Deadline; 0 where all is interactive.
	Deferrable float64
	Deadline   time.Duration
	// GPUs of a replica, and GPUPrice of one for an hour in dollars; 0 where no price was given, and then none is shown.
	GPUs     float64
	GPUPrice float64
}

// LimitedDemand names the demand that the objective limits.
func (a *Assumptions) LimitedDemand() string { return a.limits("demand in bad hours", "late demand") }

// LimitedWord follows a share of the demand that the objective limits: "late" in "1% late".
func (a *Assumptions) LimitedWord() string { return objective.Goal{BadHours: a.BadHours}.Limited() }

// LimitedName is LimitedWord as the head of a column.
func (a *Assumptions) LimitedName() string { return a.limits("bad hours", "late") }

func (a *Assumptions) limits(badHours, late string) string {
	if a.BadHours {
		return badHours
	}
	return late
}

// PolicyResult is the result of one policy.
type PolicyResult struct {
	// Name is one of those above.
	Name string
	// Target that it was played with, in the metric's unit; Hindsight says that it was chosen because it would have been
	// the best.
	Target    float64
	Hindsight bool
	// MeetsObjective is true if the share that the objective limits is within it, and so is the work that missed its deadline.
	MeetsObjective bool
	Report         simulate.Report
	// MeanEarly and MeanLate are how long before, or after, the demand needed them replicas were ready, the mean over all that
	// were started for a rise. 0 where none was.
	MeanEarly, MeanLate time.Duration
	// Frontier is its relative cost and lateness at other targets (forewarm: objectives), from the least late to the
	// cheapest.
	Frontier []Point
	// Timeline has slots of equal length over the history that was counted.
	Timeline []Slot
	// IdleTime is nil unless the HPA may scale to zero.
	IdleTime *IdleTime
}

// Point is one setting of a policy.
type Point struct {
	// Setting is a target in the metric's unit, or forewarm's objective.
	Setting float64
	// Late is the share of the demand that was late or, where the objective limits bad hours, that arrived in bad hours. If more of the
	// work that may wait missed its deadline, it is that share.
	Late float64
	// RelativeCost is the replica-hours paid for over those of the demand.
	RelativeCost float64
}

// Slot is a part of a timeline, for plots. Demand is in replicas of the assumed capacity.
type Slot struct {
	Start time.Time
	// Demand is the maximum; Ready is the minimum of ready replicas, Paid the maximum paid for, and Idle the maximum
	// that a warm pool held unused.
	Demand, Ready, Paid, Idle float64
	// Late is the share of the slot's demand that was late.
	Late float64
}
