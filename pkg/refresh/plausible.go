package refresh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

// judgeInterval is how often the signal is judged. A doubt changes only the status, unless the signal is a counter.
const judgeInterval = 5 * time.Minute

// judgesAt reports whether the signal is judged when the samples end at a time.
func (w *worker) judgesAt(end time.Time) bool {
	return align(end, judgeInterval).After(align(w.judged, judgeInterval))
}

// judgeSignal judges whether the newest samples look like demand, and whether they fit the autoscaler's target.
func (w *worker) judgeSignal() {
	end := w.store.End()
	if !w.judgesAt(end) {
		return
	}
	w.judged = end
	w.result.shape = demand.ShapeOf(w.store.Range(end.Add(-demand.ShapeTime), end).Values, w.job.Step)
	w.judgeLoad(end)
	from := end.Add(-includedSpan)
	w.result.workIncludes = w.work != nil && includes(w.work.Range(from, end), w.store.Range(from, end))
	w.judgeMeasured(end)
}

// signalCondition is present while the signal is probably not the total demand.
func (r *result) signalCondition(t Job) snapshot.Condition {
	c := snapshot.Condition{Type: snapshot.ConditionSignal}
	switch silent := math.Min(r.silent[0], r.silent[1]); {
	case t.Average:
		c.Reason = reasonAverage
		c.Message = "the query is an average, but the autoscaler divides the value by what a replica sustains: write a query for the total, " +
			"with sum() instead of avg()"
	case r.unowned > 0:
		c.Reason = reasonOwnersUnknown
		c.Message = fmt.Sprintf("kube-state-metrics does not report the owners of %.0f pods that have series: "+
			"their demand may be missing from the total, so Forewarm takes no samples, and the value does not "+
			"fall; check that all shards of kube-state-metrics run, are up to date with the cluster, and are "+
			"scraped", r.unowned)
	case r.shape == demand.Frozen:
		c.Reason = reasonFrozen
		c.Message = fmt.Sprintf("the demand has been exactly the same for %s, although it changed constantly "+
			"before: the data in the source is probably old; check the exporter, the recording rule or the "+
			"federation behind the query", humanize.Span(time.Hour))
	case silent > 0:
		c.Reason = reasonSilentReplicas
		c.Message = fmt.Sprintf("%.0f ready replicas have no series, so their demand is missing: "+
			"check that new pods are scraped", silent)
	default:
		if c.Reason, c.Message = r.load.doubt(); c.Reason == "" {
			c.Reason, c.Message = r.doubts.newest()
		}
		if c.Reason == "" {
			c.Reason, c.Message = r.measuredDoubt(t)
		}
	}
	return c
}

const counterMessage = "the query returns a counter, which never falls, instead of a demand, so Forewarm serves no value: use " +
	"the rate of the counter, sum(rate(…[2m]))"

// DoubtLabel is the label that distinguishes the series of Doubts. Its values are the names below.
const DoubtLabel = "forewarm_doubt"

const (
	// DoubtSilent is the number of ready replicas that report nothing.
	DoubtSilent = "silent"
	// DoubtDeleted is the number of deleted pods that are still reported.
	DoubtDeleted = "deleted"
	// DoubtProfiling is the number of GPUs whose profiling field is 0 while they are busy.
	DoubtProfiling = "profiling"
	// DoubtCopies is how many copies of one scrape are added up.
	DoubtCopies = "copies"
	// DoubtSamples is the median number of samples of a server in the window of a rate.
	DoubtSamples = "samples"
)

// minSamplesInWindow is how many samples a rate needs to survive a missed one.
const minSamplesInWindow = 3

// doubts has the answers to the queries that look for reasons to doubt the value.
type doubts struct {
	// numbers has the numbers of the last two answers, the newest first.
	numbers [2]map[string]float64
	// deleted has the names of deleted pods that are still reported.
	deleted []string
}

// takeDoubts stores the reasons to doubt the value.
func (w *worker) takeDoubts(a sideAnswer) {
	if d := &w.result.doubts; a.err == nil {
		d.numbers, d.deleted = [2]map[string]float64{a.byLabel, d.numbers[0]}, nil
	}
}

// takeFrequentDoubts is like takeDoubts, for numbers that include the number of replicas that do not report.
func (w *worker) takeFrequentDoubts(a sideAnswer) {
	w.takeDoubts(a)
	if a.err == nil {
		w.noteSilent(a.byLabel[DoubtSilent])
	}
}

func (w *worker) noteSilent(n float64) { w.result.silent = [2]float64{w.result.silent[1], n} }

func (w *worker) takeDeleted(a sideAnswer) {
	if a.err == nil {
		w.result.doubts.deleted = slices.Sorted(maps.Keys(a.byLabel))
	}
}

// newest returns the reason to doubt the newest answer; empty if there is none.
func (d *doubts) newest() (reason, message string) {
	newest := d.numbers[0]
	both := func(doubt string) float64 { return math.Min(newest[doubt], d.numbers[1][doubt]) }
	samples, known := newest[DoubtSamples]
	switch {
	case newest[DoubtCopies] > 1:
		return reasonCopiesAddUp, fmt.Sprintf("the query adds up %.0f copies of the same scrape, for example from "+
			"an HA pair of Prometheus servers, so the demand is too high: deduplicate the copies in the store, or "+
			"use max to select one copy first, for example sum(max without (prometheus_replica) (…))",
			newest[DoubtCopies])
	case both(DoubtProfiling) > 0:
		return reasonProfilingIdle, fmt.Sprintf("the profiling field of %s is 0 although the utilization is above "+
			"50 %%, so part of the demand is missing: profiling may be paused, or another tool may be using it; check "+
			"dcgm-exporter",
			humanize.Plural(int(both(DoubtProfiling)), "GPU"))
	case known && samples < minSamplesInWindow:
		return reasonWindowTooShort, fmt.Sprintf("the window of the query's rate contains only %s of each server, so "+
			"demand is lost if one scrape fails: for a preset, set --scrape-interval of the Forewarm server to the scrape "+
			"interval; in your own query, use a window of four scrape intervals", humanize.Plural(int(samples), "sample"))
	}
	return "", ""
}

// deletedText lists deleted pods that are still reported, after a semicolon; empty if there are none. This is not a problem, because
// exporters forget such pods after a while.
func (d *doubts) deletedText() string {
	n := d.numbers[0][DoubtDeleted]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; an exporter still reports %s (%s), and Forewarm ignores their demand: "+
		"dcgm-exporter forgets deleted pods within half an hour", humanize.Plural(int(n), "deleted pod"), podNames(d.deleted))
}

// podNames lists a few names.
func podNames(names []string) string {
	const most = 3
	var out []string
	for _, name := range names[:min(most, len(names))] {
		out = append(out, printable.Clip(printable.Line(name), 100))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(out, ", ")
}

// Diagnosis finds out why a query has no series.
type Diagnosis interface {
	// Explain says what was found instead, and what to do. ask evaluates an expression at the newest step, and returns the value of each
	// series by a label. Explain returns an error only if ask does.
	Explain(ask func(expr, label string) (map[string]float64, error)) (string, error)
}

// diagnosisInterval is how often Forewarm looks for the reason why a Forecast has no value.
const diagnosisInterval = 5 * time.Minute

// diagnose finds out why a Forecast without a value has no samples, at most once per diagnosisInterval. Forecasts with a value cost no
// query.
func (l *Loop) diagnose(ctx context.Context, w *worker, now time.Time) {
	_, ok := l.source.(LabelSource)
	r := &w.result
	hasValue := r.entry != nil && now.Sub(r.entry.SampleTime) < w.job.StaleAfter
	switch {
	case !ok || w.job.Diagnosis == nil || hasValue || r.newestDropped.Any():
		r.cause = ""
		return
	case r.err != nil && !errors.Is(r.err, series.ErrNoSeries): // What is known about its series stays.
		return
	case now.Sub(w.diagnosed).Abs() < diagnosisInterval: // The clock may have been set back.
		return
	}
	w.diagnosed = now
	q := w.nextQuery(now)
	q.From = q.To
	cause, err := w.job.Diagnosis.Explain(func(expr, label string) (map[string]float64, error) {
		of := q
		of.Expr = expr
		return slottedSource{l, w}.FetchByLabel(ctx, of, label)
	})
	if r.cause = cause; err != nil {
		l.log.DebugContext(ctx, "cannot find out why the query has no series", "forecast", w.job.Key.String(),
			"error", err)
	}
}

// recordSuspect records the samples that are not believed yet.
func (w *worker) recordSuspect(e *snapshot.ForecastSnapshot) {
	w.result.suspect = ""
	held, lasts := w.forecaster.Suspects()
	if len(held) == 0 {
		return
	}
	since, highest := w.forecaster.End(), 0.0
	for _, h := range held {
		highest = math.Max(highest, h.Demand)
	}
	e.Classifications = append(e.Classifications, demand.Span{
		From: since, To: w.forecaster.ReadUntil(), Cause: demand.Suspect, Samples: len(held),
	})
	served := fmt.Sprintf("which is more than its history justifies: Forewarm counts it as %.6g", e.Observed)
	if math.IsInf(held[len(held)-1].Bound.MaxObserved, 1) {
		served = "and there is no history to judge it by: Forewarm serves it as observed"
	}
	w.result.suspect = fmt.Sprintf("since %s, the demand has been as high as %.6g, %s; models ignore it unless it "+
		"lasts until %s or occurs again", formatTime(since), highest, served, formatTime(since.Add(lasts)))
}

// recordSuddenLow records the sudden lows that are doubted. A sudden low that is no longer doubted is most likely real demand, and needs no
// attention.
func (w *worker) recordSuddenLow(e *snapshot.ForecastSnapshot) {
	w.result.suddenLow = ""
	lows, doubted := w.forecaster.Fallen()
	if !doubted {
		return
	}
	until := w.forecaster.ReadUntil()
	since, lowest := until.Add(-time.Duration(len(lows))*w.job.Step), math.Inf(1)
	for _, low := range lows {
		if low.Demand < lowest { // This is false for NaN.
			lowest = low.Demand
		}
	}
	e.Classifications = append(e.Classifications, demand.Span{
		From: since, To: until, Cause: demand.Dip, Samples: len(lows),
	})
	w.result.suddenLow = fmt.Sprintf("at %s, the demand suddenly fell to as low as %.6g, which may be only a part of "+
		"the total: Forewarm serves the value from before the fall until %s, and models ignore the fall unless it lasts until %s",
		formatTime(since), lowest, formatTime(since.Add(demand.FallDoubt)), formatTime(since.Add(demand.FallLearnt)))
}

// unitSaid is how long the condition for a changed unit stays.
const unitSaid = 24 * time.Hour

// units has the changes of the demand's unit in the history. Samples from before a change are converted to the new unit.
type units struct {
	changes []demand.UnitChange
	// start and searched are the start and the end of the history that was searched.
	start, searched time.Time
}

// unitTail is the length of the end of the history that is checked first. If it shows no change, the rest is not searched.
const unitTail = 3 * time.Hour

// findUnitChanges searches the history up to an end, and reports whether the known changes are different from before. The result depends
// only on the history since the anchor, so all replicas find the same at the same time. changed is the oldest sample that has changed; zero
// if none has.
func (w *worker) findUnitChanges(end, changed time.Time) bool {
	u, block := &w.units, demand.UnitBlock(w.job.Step)
	start, tail := align(w.anchorAt(end).Add(-w.job.History), w.job.Step), end.Add(-unitTail)
	again := !changed.IsZero()
	all := !start.Equal(u.start) || again && (len(u.changes) > 0 || changed.Before(tail.Add(unitTail/2)))
	if !all && !again && !align(end, block).After(align(u.searched, block)) {
		return false
	}
	u.start, u.searched = start, end
	if !all && !demand.MayChangeUnit(w.demand(tail, end)) {
		return false
	}
	before := u.changes
	u.changes = demand.UnitChanges(w.demand(start, end), w.seasons[0], w.anchorAt(end))
	return !slices.Equal(before, u.changes)
}

// newest returns the newest change of the unit at an end; nil if there is no recent one.
func (u *units) newest(end time.Time) *demand.UnitChange {
	if n := len(u.changes); n > 0 && end.Sub(u.changes[n-1].To) < unitSaid {
		return &u.changes[n-1]
	}
	return nil
}

// unitMessage says that the unit has changed.
func unitMessage(c *demand.UnitChange) string {
	times := fmt.Sprintf("%.6g times as high as before", c.Factor)
	if c.Factor < 1 {
		times = fmt.Sprintf("only 1/%.6g of what it was before", 1/c.Factor)
	}
	return fmt.Sprintf("at %s, the demand suddenly became %s, with the same shape: its unit has probably changed "+
		"at the exporter or in a recording rule; Forewarm converts the older history and serves the value in the "+
		"new unit, so check that the autoscaler's target uses the new unit, too", formatTime(c.To), times)
}
