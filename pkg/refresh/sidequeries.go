package refresh

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// SideQuery names a query that is run in addition to the one for the demand.
type SideQuery string

// The side queries. Only Saturated and Deferrable change what is served; the others are for conditions and for people.
const (
	// Saturated is above 0 while the service is saturated, so that the observed demand is censored. No sample means not saturated.
	Saturated SideQuery = "saturated"
	// Deferrable is the work that arrives in addition to the demand and may wait until Job.Deadline.
	Deferrable SideQuery = "deferrable"
	// Measured is the share of requests that waited longer than Settings.Wait in the five minutes before, from 0 to 1.
	Measured SideQuery = "measured"
	// Clusters is the number of clusters whose demand is added up; without it that is one.
	Clusters SideQuery = "clusters"
	// Doubts has numbers by which a value may not be the demand, a series for each, by DoubtLabel.
	Doubts SideQuery = "doubts"
	// FrequentDoubts are Doubts that change while a service runs, so that they are asked whenever the signal is judged.
	FrequentDoubts SideQuery = "frequent doubts"
	// DeletedPods has a series for each deleted pod that is still reported, by the label pod.
	DeletedPods SideQuery = "deleted pods"
	// NotReporting is the number of ready replicas that the demand has no sample of; it has none where the demand adds up no pods.
	NotReporting SideQuery = "silent"
	// Ready is the number of ready replicas, to judge the autoscaler's target by, where there is Saturated, and to show with
	// the simulated ones.
	Ready SideQuery = "ready"
	// UnknownOwner is the number of pods that report to the demand and of which kube-state-metrics does not say whose they are. It explains
	// why the demand has no sample.
	UnknownOwner SideQuery = "unowned"
)

// SideQueries are PromQL by name; what has none is not asked.
type SideQueries map[SideQuery]string

// moment is a set of bits that say which events have just happened. Side queries run at such moments.
type moment uint8

const (
	// newestMissing is set if the newest sample of the demand is missing.
	newestMissing moment = 1 << iota
	// demandRead is set if the demand was read.
	demandRead
	// historyRead is set if the whole history was read, or an anchor has passed.
	historyRead
	// signalJudged is set if the signal is about to be judged.
	signalJudged
)

// sideQuery is a row in the table of side queries.
type sideQuery struct {
	name SideQuery
	// due has the moments at which the query runs.
	due moment
	// take stores the answer or the error.
	take func(*worker, sideAnswer)
	// window extends the query from the newest step to a range; nil if it stays at the newest step.
	window func(*worker, Query, moment) Query
	// label distinguishes the series of an answer; empty if the answer is a single series.
	label string
	// only reports whether the query runs; nil if it always runs.
	only func(*worker) bool
}

// sideQueries run in this order.
var sideQueries = []sideQuery{ //nolint:gochecknoglobals // A constant table.
	{name: Saturated, due: demandRead, window: (*worker).sinceSaturation, take: (*worker).takeSaturation},
	{name: Deferrable, due: demandRead, window: (*worker).sinceWork, take: (*worker).takeWork},
	{name: Clusters, due: historyRead, take: number(func(w *worker, n float64) { w.result.clusters = n })},
	{name: Doubts, due: historyRead, label: DoubtLabel, take: (*worker).takeDoubts},
	{name: FrequentDoubts, due: historyRead | signalJudged, label: DoubtLabel, take: (*worker).takeFrequentDoubts},
	{
		name: DeletedPods, due: historyRead | signalJudged, label: "pod", take: (*worker).takeDeleted,
		only: func(w *worker) bool { return w.result.doubts.numbers[0][DoubtDeleted] > 0 },
	},
	{name: NotReporting, due: signalJudged, take: number((*worker).noteSilent)},
	{
		name: Ready, due: signalJudged, take: number(func(w *worker, n float64) { w.ready = n }),
		only: func(w *worker) bool { return w.job.SideQueries[Saturated] != "" },
	},
	{name: UnknownOwner, due: newestMissing, take: number(func(w *worker, n float64) { w.result.unowned = n })},
	{name: Measured, due: historyRead | signalJudged, window: (*worker).sinceShares, take: (*worker).takeShares},
}

// sideAnswer is a series, or a number for each value of a label.
type sideAnswer struct {
	series  forecast.Series
	byLabel map[string]float64
	err     error
}

// number passes the value at the newest step, or 0 if there is none. After an error, the previous value stays.
func number(take func(*worker, float64)) func(*worker, sideAnswer) {
	return func(w *worker, a sideAnswer) {
		if a.err != nil {
			return
		}
		n := a.series.Values[a.series.Len()-1]
		if math.IsNaN(n) {
			n = 0
		}
		take(w, n)
	}
}

// sideState is the state that a worker keeps for its side queries.
type sideState struct {
	// saturation says when the saturation signal was above 0; nil before the first query.
	saturation *flags
	// work is the deferrable work; nil before the first query.
	work *series.Store
	// shares has the answers to Measured over the budget's period. Each share belongs to the interval that ends at its time; NaN if it is
	// unknown.
	shares forecast.Series
	// ready is the number of ready replicas, kept until the signal is judged; 0 if it is unknown.
	ready float64
	// pauses has the pauses after failures. The same refresh queries the demand, which must not wait for a query that fails at every step.
	pauses map[SideQuery]pause
}

// pause is the time until which a query does not run, and the number of failures so far.
type pause struct {
	until    time.Time
	failures int
}

// sideResult is the part of the side queries' state that is published.
type sideResult struct {
	// saturationErr, workErr and measuredErr are the errors of the newest queries.
	saturationErr, workErr, measuredErr error
	// clusters is the number of clusters whose demand is added up; 0 if the store has no label for the cluster.
	clusters float64
	// silent is the number of ready replicas that did not report, at each of the last two counts.
	silent [2]float64
	doubts doubts
	// unowned is the number of pods that report without a known owner. It is queried only while the newest sample is missing.
	unowned float64
}

// querySides runs the side queries that are due after a query for the demand.
func (w *worker) querySides(ctx context.Context, now time.Time, source LabelSource, of Query, m moment) {
	for i := range sideQueries {
		side := &sideQueries[i]
		q, pauses := of, w.pauses[side.name]
		q.Expr, q.From = w.job.SideQueries[side.name], of.To
		if q.Expr == "" || side.due&m == 0 || w.inRetryPause(now, pauses.until) || side.only != nil && !side.only(w) {
			continue
		}
		if side.window != nil {
			q = side.window(w, q, m)
		}
		a := side.ask(ctx, source, q)
		delete(w.pauses, side.name)
		if a.err != nil {
			w.pauses[side.name] = pause{now.Add(w.pauseAfter(pauses.failures)), pauses.failures + 1}
		}
		side.take(w, a)
	}
}

// ask queries the source. An answer without series is not an error: a queue that was never used has none.
func (s *sideQuery) ask(ctx context.Context, source LabelSource, q Query) (a sideAnswer) {
	if s.label != "" {
		a.byLabel, a.err = source.FetchByLabel(ctx, q, s.label)
		return a
	}
	if a.series, a.err = fetchOnGrid(ctx, source, q); errors.Is(a.err, series.ErrNoSeries) {
		a.series, a.err = q.Gaps(), nil
	}
	return a
}

// keepAnswers takes over the answers that the previous worker received for the same side queries.
func (w *worker) keepAnswers(before *worker) {
	same := func(name SideQuery) bool { return before.job.SideQueries[name] == w.job.SideQueries[name] }
	if same(Saturated) {
		w.saturation = before.saturation
	}
	if same(Deferrable) {
		w.work = before.work
	}
	if same(Measured) && before.job.Settings.Over == w.job.Settings.Over {
		w.shares = before.shares
	}
}
