package snapshot

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// ForecastSnapshot is one Forecast at one moment, immutable.
type ForecastSnapshot struct {
	Key        Key
	Generation int64
	// Created is when the Forecast was made; zero where that is not known.
	Created    time.Time
	State      State
	Conditions []Condition
	// Partial: it is made from the newest history only, while the whole of it is being read. PartialError is why it could not be.
	Partial      bool
	PartialError error

	// Alias that the Forecast wants; nil without one.
	Alias *Alias

	// What it is.
	Workload   string
	Unit       string
	Step       time.Duration
	Lead       time.Duration
	LeadSource string
	// LeadPool is the warm pool that makes the lead time hold; empty where none does.
	LeadPool string
	// Window is the lead window W: lead time (with an objective the median start), HPA sync, one step and metric lag.
	Window time.Duration
	// MaxHorizon is the longest horizon that may be asked for.
	MaxHorizon time.Duration
	Settings   decide.Settings
	// AutoscalerSource says in words which autoscalers the objective is calibrated for, and why others are not.
	AutoscalerSource string
	// Unused: no autoscaler reads the value, and all could be read.
	Unused bool

	// What is known. SampleTime is that of the newest real sample; from StaleAt on nothing is served.
	SampleTime time.Time
	StaleAt    time.Time
	Observed   float64
	// Newest is the observed demand at each step of the last 5 minutes, newest last.
	Newest []float64
	// Sampled is the query's value at SampleTime, as the source has it: Observed may be a mean of a minute, and at most what is
	// credible.
	Sampled float64

	// What is served, with the Forecast's own settings. Meaningful where State.Serves().
	Decision decide.Decision
	// Fallback: no model serves but the ladder's next rung, the running maximum, which knows no quantiles and horizons.
	Fallback bool
	// Model is the name of the selected candidate, or of the running maximum while falling back; Choice is why it is selected.
	// ObjectiveError is why there is no objective that was asked for; nil where there is none, or it is served.
	Model          string
	Choice         decide.SelectionReason
	ObjectiveError error
	// Skill is 1 − loss/loss of the last value, by the loss that the model was chosen by; NaN until known.
	Skill float64
	// Coverage is the share of past windows whose maximum stayed within the served quantile; NaN until known.
	Coverage float64

	// Objective is how the objective fares; nil where no objective is served by outcome.
	Objective *objective.Report

	// Candidates are every model's distributions and scores, the chosen one included.
	Candidates []Candidate
	// Inputs are those of the chosen candidate over the last half lead time, newest last (see decide.Decide).
	Inputs []decide.Input
	// Path is the forecast of PathModel step by step: the selected candidate or, where that knows the lead window
	// alone, the best of those that know steps.
	Path      []PathStep
	PathModel string
	// Background is what is made beside the steps; nil where nobody may look at it.
	Views *ViewTracker
	// Recent is the observed demand of the last day on a coarse grid (means; NaN for gaps).
	Recent forecast.Series
	// Classifications are the times within Recent at which the demand was not simply what was read, oldest first:
	// bounded in number.
	Classifications []demand.Span
	// Events are those of the next two weeks, by their next occurrence.
	Events []event.Announcement
	// Past are recent forecasts beside what came, oldest first.
	Past []ScoredForecast

	// Plan is how the value is shared out among variants, and Parts what each of them is asked for; empty where there are none.
	Plan  distribute.Plan
	Parts []distribute.Part
	// Usage is what the simulated autoscalers have taken since the process began, whole hours.
	Usage []Usage

	// Fallbacks counts the steps served by the fallback since the start of the process.
	Fallbacks uint64
}

// The policies that the simulated autoscalers compare: the value that Forewarm serves, and HPAs on the observed demand with the same
// target, with the one before, and with the best one in hindsight.
const (
	PolicyServed    = "served"
	PolicyObserved  = "observed"
	PolicyBefore    = "before"
	PolicyHindsight = "hindsight"
)

// Usage is what a policy has taken on a variant.
type Usage struct {
	// Policy is served, observed, before or hindsight, as in objective.Report. Variant is the name of one or of the only workload.
	Policy, Variant string
	ReplicaHours    float64
	// Price of a replica for an hour; 0 for none.
	Price float64
}

// ModelReason says in a sentence why the Model serves.
func (e *ForecastSnapshot) ModelReason() string {
	if e.Fallback {
		return e.Decision.Reason()
	}
	if e.Model == "" {
		return ""
	}
	text := e.Choice.Message()
	if e.ObjectiveError != nil {
		text += "; the objective is not served: " + e.ObjectiveError.Error()
	}
	return text
}

// Suspect says in words that the newest samples are suspects; ok is false where they are not.
func (e *ForecastSnapshot) Suspect() (words string, ok bool) {
	for _, c := range e.Conditions {
		if c.Type == ConditionData && c.Reason == ReasonSuspect {
			return c.Message, true
		}
	}
	return "", false
}

// Candidate is one model's view of the window and how well it did. Windows ascend in horizon; empty with an Error.
type Candidate struct {
	// Name as a selector writes it: lower case, "arima", "holt-winters", "last-value".
	Name string
	// Title is the model in the field's words: "ARIMA(1,1,1)".
	Title string
	// Baseline says that this is a baseline that costs nothing: it needs no promotion.
	Baseline bool
	Windows  []windowpeak.Window
	// Loss is the trailing mean pinball loss at the served level, Skill 1 − Loss/Loss of the last value, Coverage the
	// share of windows within the served quantile; NaN until known.
	Loss, Skill, Coverage float64
	// Error says why the model does not take part.
	Error string
}

// PathStep is the demand at one step ahead: the model's mean, and quantiles that are calibrated at the first step and
// widen as the model's errors do.
type PathStep struct {
	Time  time.Time
	Point float64
	// Quantiles at PathLevels().
	Quantiles [3]float64
}

// Background is what is made beside the steps.
type Background struct {
	// NextDay is the forecast of the next 24 hours, the mean of each; nil before a whole day is known.
	NextDay []PathStep
	// Ready are the replicas that were ready at the beginning of each interval of the objective's race; empty where nobody counts
	// them.
	Ready forecast.Series
}

// ViewTracker is the newest Background, which is computed more often while someone looks, and the models that requests name: all that changes
// of a ForecastSnapshot. The zero ViewTracker has none of these.
type ViewTracker struct {
	newest atomic.Pointer[Background]
	looked atomic.Int64 // seconds since the epoch
	// requested has a bit for each of windowpeak.FittedModels.
	requested atomic.Uint64
}

// request notes that a request names a candidate.
func (w *ViewTracker) request(candidate string) {
	if i := slices.Index(windowpeak.FittedModels(), candidate); w != nil && i >= 0 {
		w.requested.Or(1 << i)
	}
}

// Requested are the models that requests have named since ForgetRequested.
func (w *ViewTracker) Requested() []string {
	var out []string
	for i, name := range windowpeak.FittedModels() {
		if w.requested.Load()&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// ForgetRequested forgets them.
func (w *ViewTracker) ForgetRequested() { w.requested.Store(0) }

// Set replaces it.
func (w *ViewTracker) Set(b *Background) { w.newest.Store(b) }

// Look returns it, for somebody who looks at it now. It is zero where there is none.
func (w *ViewTracker) Look(now time.Time) Background {
	if w == nil {
		return Background{}
	}
	w.looked.Store(now.Unix())
	if newest := w.newest.Load(); newest != nil {
		return *newest
	}
	return Background{}
}

// LookedSince reports whether somebody has looked at it since a time.
func (w *ViewTracker) LookedSince(at time.Time) bool { return w.looked.Load() >= at.Unix() }

// PathLevels are the levels of PathStep.Quantiles.
func PathLevels() [3]float64 { return [3]float64{0.5, 0.8, 0.95} }

// ScoredForecast is a forecast that was served at a time, in seconds since 1970, for the window that followed, and the maximum that came; NaN while the
// window is open or touched a gap.
type ScoredForecast struct {
	At       int64
	Forecast float64
	Actual   float64
}
