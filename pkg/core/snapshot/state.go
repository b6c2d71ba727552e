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
	// Created is when the Forecast was created; zero if unknown.
	Created    time.Time
	State      State
	Conditions []Condition
	// Partial: the snapshot uses only the newest history, while Forewarm reads the rest. PartialError is why the rest could not be read.
	Partial      bool
	PartialError error

	// Alias of the Forecast, from spec.expose; nil if there is none.
	Alias *Alias

	// What it is.
	Workload   string
	Unit       string
	Step       time.Duration
	Lead       time.Duration
	LeadSource string
	// LeadPool is the warm pool that shortens the lead time; empty if there is none.
	LeadPool string
	// Window is the lead window W: lead time (with an objective the median start), HPA sync, one step and metric lag.
	Window time.Duration
	// MaxHorizon is the longest horizon that a request can select.
	MaxHorizon time.Duration
	Settings   decide.Settings
	// AutoscalerSource describes the autoscalers that the objective is calibrated for, and says why others are not used.
	AutoscalerSource string
	// Unused: Forewarm could read all autoscalers, and none of them reads the value.
	Unused bool

	// What is known. SampleTime is the time of the newest real sample. From StaleAt on, no value is served.
	SampleTime time.Time
	StaleAt    time.Time
	Observed   float64
	// Newest is the observed demand at each step of the last 5 minutes, newest last.
	Newest []float64
	// Sampled is the unchanged value of the query at SampleTime. Observed may be the mean of a minute, and is limited to a credible value.
	Sampled float64

	// Decision is what is served with the Forecast's own settings. It is meaningful if State.Serves().
	Decision decide.Decision
	// Fallback: no model serves. The running maximum is served instead; it has neither quantiles nor horizons.
	Fallback bool
	// Model is the name of the selected candidate, or of the running maximum during the fallback. Choice is why it is selected.
	// ObjectiveError is why the objective of the spec cannot be served; nil if there is no objective, or if it is served.
	Model          string
	Choice         decide.SelectionReason
	ObjectiveError error
	// Skill and Coverage are the scores of the selected candidate; NaN until known.
	Skill, Coverage float64

	// Objective is the report on the objective; nil if no objective is served.
	Objective *objective.Report

	// Candidates are the distributions and scores of all models, including the selected one.
	Candidates []Candidate
	// Inputs are the inputs of the selected candidate over the last half lead time, newest last (see decide.Decide).
	Inputs []decide.Input
	// Path is the forecast of PathModel step by step. PathModel is the selected candidate or, if that candidate forecasts only the lead
	// window, the best candidate that forecasts steps.
	Path      []PathStep
	PathModel string
	// Views holds the background results of the Forecast; nil if no view can show them.
	Views *ViewTracker
	// Recent is the observed demand of the last day on a coarse grid (means; NaN for gaps).
	Recent forecast.Series
	// ServedPeaks are the highest values that were served in each 5 minutes of the last two weeks (NaN for gaps), as far as the history
	// reaches; empty unless the Forecast is a member of a fleet.
	ServedPeaks forecast.Series
	// Classifications are the spans within Recent in which samples were censored or masked, oldest first. Their number is limited.
	Classifications []demand.Span
	// Events are the events of the next two weeks, ordered by their next occurrence.
	Events []event.Announcement
	// Past are recent forecasts with the demand that followed, oldest first.
	Past []ScoredForecast

	// ReturnDue is from when on demand is expected, because it returned after a time without demand at about this time in one of the last
	// seasons; zero if it never did.
	ReturnDue time.Time
	// Plan is how the value is split across variants, and Parts are the resulting parts; empty without variants.
	Plan  distribute.Plan
	Parts []distribute.Part
	// Usage is what the simulated autoscalers have used since the process started, in whole hours.
	Usage []Usage

	// Fallbacks counts the steps served by the fallback since the start of the process.
	Fallbacks uint64
}

// The policies of the simulated autoscalers. One reads the value that Forewarm serves. The others are HPAs on the observed demand: with
// the same target, with the target of the previous HPA, and with the best target in hindsight.
const (
	PolicyServed    = "served"
	PolicyObserved  = "observed"
	PolicyBefore    = "before"
	PolicyHindsight = "hindsight"
)

// Usage is what a policy has used on a variant.
type Usage struct {
	// Policy is served, observed, before or hindsight, as in objective.Report. Variant is the name of a variant or of the only workload.
	Policy, Variant string
	ReplicaHours    float64
	// Price of a replica for an hour; 0 without a price.
	Price float64
}

// ModelReason explains in a sentence why the Model serves.
func (e *ForecastSnapshot) ModelReason() string {
	if e.Fallback {
		return e.Decision.Reason()
	}
	if e.Model == "" {
		return ""
	}
	text := e.Choice.Message()
	if e.ObjectiveError != nil {
		text += "; Forewarm cannot serve the objective: " + e.ObjectiveError.Error()
	}
	return text
}

// Suspect returns the message that the newest samples are suspect; ok is false if they are not.
func (e *ForecastSnapshot) Suspect() (words string, ok bool) {
	for _, c := range e.Conditions {
		if c.Type == ConditionData && c.Reason == ReasonSuspect {
			return c.Message, true
		}
	}
	return "", false
}

// Candidate has one model's forecasts and scores. Windows ascend in horizon. They are empty if there is an Error.
type Candidate struct {
	// Name as a selector writes it: lower case, "arima", "holt-winters", "last-value".
	Name string
	// Title is the usual notation of the model: "ARIMA(1,1,1)".
	Title string
	// Baseline: this candidate is a baseline, which needs no promotion because it costs nothing to compute.
	Baseline bool
	Windows  []windowpeak.Window
	// Loss is the trailing mean pinball loss at the served level. Skill is 1 − Loss/Loss of the last value. Coverage is the share of
	// windows whose peak was at or below the quantile at that level. All are NaN until known.
	Loss, Skill, Coverage float64
	// Error says why the model cannot be selected.
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

// Background holds results that are computed outside the refresh step.
type Background struct {
	// NextDay is the forecast of the next 24 hours, as the mean of each hour; nil until a whole day is known.
	NextDay []PathStep
	// Hours are the hourly means that NextDay continues, each at the time of its end.
	Hours forecast.Series
	// Ready are the replicas that were ready at the beginning of each interval of the objective's race; empty if unknown.
	Ready forecast.Series
}

// ViewTracker holds the parts of a ForecastSnapshot that change: the newest Background, which is computed more often while someone views
// it, and the models that requests select. The zero ViewTracker is empty.
type ViewTracker struct {
	newest atomic.Pointer[Background]
	looked atomic.Int64 // seconds since the epoch
	// requested has a bit for each of windowpeak.FittedModels.
	requested atomic.Uint64
}

// request records that a request selects a candidate.
func (w *ViewTracker) request(candidate string) {
	if i := slices.Index(windowpeak.FittedModels(), candidate); w != nil && i >= 0 {
		w.requested.Or(1 << i)
	}
}

// Requested are the models that requests have selected since ForgetRequested.
func (w *ViewTracker) Requested() []string {
	var out []string
	for i, name := range windowpeak.FittedModels() {
		if w.requested.Load()&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// ForgetRequested clears the requested models.
func (w *ViewTracker) ForgetRequested() { w.requested.Store(0) }

// Set replaces the Background.
func (w *ViewTracker) Set(b *Background) { w.newest.Store(b) }

// Look returns the Background for a viewer, and records the time. It is zero if there is none.
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

// LookedSince reports whether Look was called at a time or later.
func (w *ViewTracker) LookedSince(at time.Time) bool { return w.looked.Load() >= at.Unix() }

// PathLevels are the levels of PathStep.Quantiles.
func PathLevels() [3]float64 { return [3]float64{0.5, 0.8, 0.95} }

// ScoredForecast is a forecast that was served at a time, in seconds since 1970, and the maximum of the window that followed. The maximum
// is NaN while the window is open, or if it contains a gap.
type ScoredForecast struct {
	At       int64
	Forecast float64
	Actual   float64
}
