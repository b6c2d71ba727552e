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

// Job is one Forecast in the form that the loop needs: validated, with defaults, and with the query rendered and restricted to the
// namespace.
type Job struct {
	Key snapshot.Key
	// Generation of the object. A change of it or of another field rebuilds the job's state, except Alias, LeadSource,
	// LeadPool, AutoscalerSource, Unused, Uncalibrated, ScaledToZero, NeverZero, DisabledAtZero, Starting, VariantLimits, ReadWhole,
	// Created, Record and Pause.
	Generation int64
	// Created is when the object was created; zero if unknown, for example for a file. Informative.
	Created time.Time
	// Invalid lists all problems because of which the object cannot be served; the other fields may then be empty.
	Invalid string

	// Alias is a second name for External metrics; nil without one. An invalid object keeps its alias.
	Alias *snapshot.Alias
	// Workload is what the Forecast scales, "Deployment/llama"; informative.
	Workload string
	// Source to read from; the zero value if there is only one source.
	Source SourceRef
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Diagnosis finds out why Expr has no series; nil if that is not possible.
	Diagnosis Diagnosis
	// SideQueries are run in addition to Expr.
	SideQueries SideQueries
	// Average: Expr is an average instead of a total. Only a condition uses it.
	Average bool
	// Deadline of the deferrable work.
	Deadline time.Duration
	// Unit of the demand, "requests/s"; empty if unknown.
	Unit string
	// Rate: the demand is a rate, so the observed demand is the mean of the last minute. Otherwise it is a gauge, and the observed demand
	// is its last sample.
	Rate bool
	// Lookback is how long one bad scrape can affect the demand (the longest range of Expr). A level that occurs once is confirmed after it
	// has lasted for this time plus two minutes or two steps.
	Lookback time.Duration

	Step    time.Duration
	History time.Duration
	// Delay is the additional delay of the samples of the source, a whole number of steps.
	Delay time.Duration
	// Lead is the lead time, from a request for more replicas until they are ready. LeadSource describes how it is known.
	Lead       time.Duration
	LeadSource string
	// MedianLead is the median of the start times; Lead is their 0.9 quantile. 0 if all starts take Lead.
	MedianLead time.Duration
	// LeadPool is the warm pool that the lead time depends on; empty if there is none.
	LeadPool string
	// ScaledToZero is when the workload was scaled to zero. A step without a sample is then a demand of 0. A change takes effect at later
	// steps.
	ScaledToZero demand.ZeroPeriods
	// ScalesToZero: exactly 0 is served while the workload is idle, because every known autoscaler that reads the value may scale to zero.
	ScalesToZero bool
	// NeverZero is why the rule for idle workloads does not apply although an HPA may scale to zero; empty if it applies, or if there is no
	// such HPA.
	NeverZero string
	// DisabledAtZero are the autoscalers that do not scale the workload, because something else scaled it to zero. Only a condition uses it.
	DisabledAtZero []string
	// Starting: a replica of the workload is starting, so exactly 0 is not served.
	Starting bool
	// StaleAfter is the age of the newest sample from which on no value is served.
	StaleAfter time.Duration
	// Seasons are the cycles in which demand repeats, ascending, each a whole number of steps; empty means
	// Config.Season.
	Seasons []time.Duration
	// Events are announced events, each of them valid.
	Events []calendar.Event
	// KeepServedPeaks: the highest served values of two weeks are kept, because the Forecast is a member of a fleet.
	KeepServedPeaks bool
	// Models that can be selected, by name; empty means the models that the settings need. Baselines are always candidates.
	Models []string
	// Named are the models that autoscalers select by name, sorted. They are fitted as well, unless Models is set.
	Named    []string
	Settings decide.Settings
	// Autoscalers are the autoscalers that read the value, at most decide.MaxAutoscalers. Without an autoscaler, an objective cannot be
	// calibrated.
	Autoscalers []decide.Autoscaler
	// Variants are the workloads that share the demand, in order; empty if there is only one workload. Autoscalers then contains one
	// autoscaler that represents all of them. VariantWorkloads are their workloads; the zero value for a workload in another cluster.
	Variants         []variant.Variant
	VariantWorkloads []leadtime.Workload
	// VariantLimits are the present sizes of variants that cannot grow, in the unit of the demand; +Inf for no limit. nil means that no
	// variant is limited.
	VariantLimits []float64
	// ReadWhole are the autoscalers that read the whole value although there are variants.
	ReadWhole []string
	// Price of a replica for an hour; 0 without a price.
	Price float64
	// Baseline is how the workload was scaled before, for comparison.
	Baseline decide.Baseline
	// Uncapped: other autoscalers with other limits may read the value, so it is not limited to what the Autoscalers can use.
	Uncapped bool
	// Unused: Forewarm could read all autoscalers, and none of them reads the value. Informative.
	Unused bool
	// AutoscalerSource describes these autoscalers, and says why other autoscalers that refer to the Forecast are not used.
	AutoscalerSource string
	// Uncalibrated says why the objective is not calibrated; empty if it is, or if there is no objective.
	Uncalibrated string
	// Record contains the served hours from the status; nil if the status has none.
	Record *objective.Record
	// Pause replaces the served value; the zero value without a pause.
	Pause decide.Pause
}

// lookAhead returns how far the value looks ahead. A quantile is not calibrated by outcome, so it uses the 0.9 quantile of the start times.
func (j *Job) lookAhead() time.Duration {
	if j.Settings.ByHeadroom() && len(j.Autoscalers) > 0 {
		return leadtime.LookAhead(j.MedianLead, j.Lead)
	}
	return j.Lead
}

// window returns the lead window, measured from the newest sample of the source.
func (j *Job) window() time.Duration { return leadtime.Window(j.lookAhead()) + j.Delay }

// boundedSettings returns the settings, limited to the largest value that the autoscalers can use. There is no limit if the maximum of one
// of them is unknown.
func (j *Job) boundedSettings() decide.Settings {
	p := j.Settings
	p.Lead, p.Window = j.lookAhead(), j.window()
	if !j.Uncapped {
		p.MaxCapacity = decide.MaxCapacity(j.Autoscalers)
	}
	if j.ScalesToZero {
		p.ZeroBelow = decide.ZeroBelow(j.Autoscalers)
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
	// Refit is the time between refits; default 6 h. A shorter time follows a change of pattern sooner but costs more CPU time. A refit of
	// a Forecast with 14 days of minutes takes about 0.2 s, or twice as long with an objective.
	Refit time.Duration
	// Season is the cycle in which demand repeats, and the time over which models are scored; default 24 h.
	Season time.Duration
	// Concurrency bounds the queries in flight to one source; default 16. PerNamespace bounds the queries of one namespace, so
	// that one tenant's slow queries do not delay the others; default half of Concurrency.
	Concurrency, PerNamespace int
	// Timeout of a query, for every 10,000 points of its range; default 30 s.
	Timeout time.Duration
	// Grace is how long a step waits for its queries before it publishes a snapshot; default 5 s. Later answers are
	// published by a later step.
	Grace time.Duration
	// Span, if set, starts a trace span for one refresh of a Forecast. It returns a function that ends the span with the error of the
	// refresh.
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

// Validate returns all problems of a configuration that has its defaults.
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
