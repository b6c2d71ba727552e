// Package refresh is the loop between history and snapshot. At every step it fetches new samples from the source, steps
// each Forecast's forecaster, applies the fallback chain and publishes one immutable snapshot.
//
// A Forecast's state depends on its history alone. It is rebuilt at anchors from the history before them and stepped
// from there; a new loop starts at the last anchor and replays. So a restart loses nothing, and adapter replicas agree
// without communication. Each Forecast has one refresh under way at most; a slow query delays only its own Forecast.
package refresh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/variant"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Job is one Forecast as the loop needs it: validated, defaults filled in, the query rendered and confined.
type Job struct {
	Key snapshot.Key
	// Generation of the object. A change of it or of another field rebuilds the job's state, except Alias, LeadSource,
	// LeadPool, AutoscalerSource, Unused, Uncalibrated, ScaledToZero, VariantLimits, ReadWhole, Created, Record and Pause.
	Generation int64
	// Created is when the object was made; zero where that is not known, as of a file. Informative.
	Created time.Time
	// Invalid lists every problem that keeps the object from being served; the other fields may then be empty.
	Invalid string

	// Alias under which External metrics are answered, too; nil without one. An invalid object keeps its own.
	Alias *snapshot.Alias
	// Workload is what the Forecast scales, "Deployment/llama"; informative.
	Workload string
	// Source to read from; the zero value where there is only one.
	Source SourceRef
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Diagnosis finds out why Expr has no series; nil where nothing can.
	Diagnosis Diagnosis
	// SideQueries are run in addition to Expr.
	SideQueries SideQueries
	// Average: Expr is an average, and no total. It is for a condition alone.
	Average bool
	// Deadline of the work that may wait.
	Deadline time.Duration
	// Unit of the demand, "requests/s"; empty where unknown.
	Unit string
	// Rate marks a demand that is a rate, observed as the mean of the last minute. Otherwise it is a gauge, observed as
	// its last sample.
	Rate bool
	// Lookback is how long one bad scrape can affect the demand (the longest range of Expr). A level that occurs once
	// is believed after it has lasted that long and two minutes or two steps more.
	Lookback time.Duration

	Step    time.Duration
	History time.Duration
	// Delay is how much later than others the source has its samples, a whole number of steps.
	Delay time.Duration
	// Lead is the lead time, from "more replicas" to "ready"; LeadSource describes where it comes from.
	Lead       time.Duration
	LeadSource string
	// MedianLead is the median of the starts, of which Lead is the 0.9 quantile; 0 if all take Lead.
	MedianLead time.Duration
	// LeadPool is the warm pool that the lead time depends on; empty if there is none.
	LeadPool string
	// ScaledToZero is when the workload was scaled to zero: a step without a sample is then demand 0. A change takes
	// effect at later steps.
	ScaledToZero demand.ZeroPeriods
	// StaleAfter is the age of the newest sample from which on no value is served.
	StaleAfter time.Duration
	// Seasons are the cycles in which demand repeats, ascending, each a whole number of steps; empty means
	// Config.Season.
	Seasons []time.Duration
	// Events are what is known of the demand beforehand, each valid.
	Events []calendar.Event
	// Models that may be selected, by name; empty means those that the settings read. Baselines are always candidates.
	Models []string
	// Named are the models that autoscalers name, ascending: where there are no Models they are fitted, too.
	Named    []string
	Settings decide.Settings
	// Autoscalers are the autoscalers that read the value, at most decide.MaxAutoscalers; without one an objective cannot
	// be calibrated by outcome.
	Autoscalers []decide.Autoscaler
	// Variants are the workloads that share the demand, the first one first; empty where there is one workload. The Autoscalers then have
	// one that stands for all. VariantWorkloads are their workloads, the zero value for one in another cluster.
	Variants         []variant.Variant
	VariantWorkloads []leadtime.Workload
	// VariantLimits are what variants hold that cannot hold more, in the unit of the demand: +Inf for no limit, nil for none at all.
	VariantLimits []float64
	// ReadWhole are the autoscalers that read the whole value although there are variants.
	ReadWhole []string
	// Price of a replica for an hour; 0 for none.
	Price float64
	// Baseline is how the workload was scaled before, to compare with.
	Baseline decide.Baseline
	// Uncapped says that others may read the value, which have other limits: it is then not limited to what the Autoscalers
	// can use.
	Uncapped bool
	// Unused: no autoscaler reads the value, and all could be read. Informative.
	Unused bool
	// AutoscalerSource describes which autoscalers these are, and why others that refer to the Forecast are not among
	// them.
	AutoscalerSource string
	// Uncalibrated is why the objective is not calibrated; empty if it is, or if there is no objective.
	Uncalibrated string
	// Record is what was served before, by the status; nil where it has none.
	Record *objective.Record
	// Pause replaces the served value; zero for none.
	Pause decide.Pause
}

// lookAhead is the lead time that the value looks ahead by. A quantile knows no outcome, and waits for nine starts of ten.
func (j *Job) lookAhead() time.Duration {
	if j.Settings.ByHeadroom() && len(j.Autoscalers) > 0 {
		return leadtime.LookAhead(j.MedianLead, j.Lead)
	}
	return j.Lead
}

// window is the lead window, from the newest sample that the source has.
func (j *Job) window() time.Duration { return leadtime.Window(j.lookAhead()) + j.Delay }

// boundedSettings are the settings, limited to the largest value that the autoscalers can use. Where one of them is unknown there is no
// such limit.
func (j *Job) boundedSettings() decide.Settings {
	p := j.Settings
	p.Lead, p.Window = j.lookAhead(), j.window()
	if !j.Uncapped {
		p.MaxCapacity = decide.MaxCapacity(j.Autoscalers)
	}
	return p
}

// Jobs returns the Forecasts to serve at a time; the loop calls it at every step. The time selects between a lead
// time and its announced replacement, so that all adapter replicas switch at the same step. The result is read-only.
type Jobs interface {
	List(now time.Time) []Job
}

// Config of the loop. The zero value of a field means its default.
type Config struct {
	// Refit is the time between refits; default 6 h. A shorter one follows a change of pattern sooner and costs more
	// CPU: about 0.2 s for each Forecast of 14 days of minutes, twice that with an objective.
	Refit time.Duration
	// Season is the cycle in which demand repeats, over which models are judged; default 24 h.
	Season time.Duration
	// Concurrency bounds the queries in flight to one source; default 16. PerNamespace bounds the queries of one namespace, so
	// that one tenant's slow queries do not delay the others; default half of Concurrency.
	Concurrency, PerNamespace int
	// Timeout of a query, for every 10,000 points of its range; default 30 s.
	Timeout time.Duration
	// Grace is how long a step waits for its queries before it publishes a snapshot; default 5 s. Later answers are
	// published by a later step.
	Grace time.Duration
	// Span, if set, begins a span of a trace around one refresh of a Forecast, and returns what ends it with the refresh's
	// error; default none.
	Span func(ctx context.Context, key snapshot.Key) (context.Context, func(error))
}

// WithDefaults returns the configuration with defaults in place of zero fields.
func (c Config) WithDefaults() Config {
	c.Refit, c.Season = cmp.Or(c.Refit, 6*time.Hour), cmp.Or(c.Season, windowpeak.Day)
	c.Timeout, c.Grace = cmp.Or(c.Timeout, 30*time.Second), cmp.Or(c.Grace, 5*time.Second)
	c.Concurrency = cmp.Or(c.Concurrency, 16)
	c.PerNamespace = cmp.Or(c.PerNamespace, max(1, c.Concurrency/2))
	if c.Span == nil {
		c.Span = func(ctx context.Context, _ snapshot.Key) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	return c
}

// Validate returns every problem of a configuration that has its defaults.
func (c Config) Validate() error {
	var problems []error
	for name, d := range map[string]time.Duration{
		"refit": c.Refit, "season": c.Season, "timeout": c.Timeout, "grace": c.Grace,
	} {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("%s is %s, expected more than 0", name, d))
		}
	}
	if c.Concurrency < 1 || c.PerNamespace < 1 {
		const text = "concurrency is %d and the limit per namespace is %d, expected at least 1 for each"
		problems = append(problems, fmt.Errorf(text, c.Concurrency, c.PerNamespace))
	}
	return errors.Join(problems...)
}
