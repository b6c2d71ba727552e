package refresh

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// SideQuery names what is asked beside the demand.
type SideQuery string

// The side queries. Only Saturated and Deferrable change what is served; the others are for conditions and for people.
const (
	// Saturated is above 0 while the service is saturated, so that the observed demand is censored. No sample means not saturated.
	Saturated SideQuery = "saturated"
	// Deferrable is the work that arrives beside the demand and may wait until Job.Deadline.
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
	// Silent is the number of ready replicas that the demand has no sample of; it has none where the demand adds up no pods.
	Silent SideQuery = "silent"
	// Ready is the number of ready replicas, to judge the autoscaler's target by, where there is Saturated, and to show beside the
	// simulated ones.
	Ready SideQuery = "ready"
	// Unowned is the number of pods that report to the demand and of which kube-state-metrics does not say whose they are. It explains
	// why the demand has no sample.
	Unowned SideQuery = "unowned"
)

// SideQueries are PromQL by name; what has none is not asked.
type SideQueries map[SideQuery]string

// sideQuery is one line of the table of side queries. Most have an answer at the newest step alone, a number.
type sideQuery struct {
	name SideQuery
	// due says when it is asked.
	due func(*worker, moment) bool
	// window widens the query from the newest step to a range; nil where it is not.
	window func(*worker, Query, moment) Query
	// label tells the series of an answer apart; empty where it is one series.
	label string
	// take takes the answer, or the error in its place.
	take func(*worker, sideAnswer)
	// keep takes over what was returned to the worker before, whose query is the same; nil where nothing is kept.
	keep func(w, before *worker)
}

// sideQueries are asked in this order.
var sideQueries = []sideQuery{
	{Saturated, atEachStep, (*worker).sinceSaturation, "", (*worker).takeSaturation, (*worker).keepSaturation},
	{Deferrable, atEachStep, (*worker).sinceWork, "", (*worker).takeWork, (*worker).keepWork},
	{Clusters, withHistory, nil, "", (*worker).takeClusters, nil},
	{Doubts, withHistory, nil, DoubtLabel, (*worker).takeDoubts, nil},
	{FrequentDoubts, asJudgedOrHistory, nil, DoubtLabel, (*worker).takeFrequentDoubts, nil},
	{DeletedPods, whileDeleted, nil, "pod", (*worker).takeDeleted, nil},
	{Silent, asJudged, nil, "", (*worker).takeSilent, nil},
	{Ready, asJudgedWithSaturated, nil, "", (*worker).takeReady, nil},
	{Unowned, whileMissing, nil, "", (*worker).takeUnowned, nil},
	{Measured, asJudgedOrHistory, (*worker).sinceShares, "", (*worker).takeShares, (*worker).keepShares},
}

// moment is what has happened when side queries are asked.
type moment struct {
	now time.Time
	// missing: the demand has no newest sample. read: it was read, and history: from an anchor on.
	missing, read, history bool
	// judges: the signal is about to be judged.
	judges bool
}

func whileMissing(_ *worker, m moment) bool { return m.missing }

func atEachStep(_ *worker, m moment) bool { return m.read }

func withHistory(_ *worker, m moment) bool { return m.history }

func asJudged(_ *worker, m moment) bool { return m.judges }

func asJudgedOrHistory(_ *worker, m moment) bool { return m.judges || m.history }

func whileDeleted(w *worker, m moment) bool {
	return asJudgedOrHistory(w, m) && w.result.doubts.numbers[0][DoubtDeleted] > 0
}

func asJudgedWithSaturated(w *worker, m moment) bool {
	return asJudged(w, m) && w.job.SideQueries[Saturated] != ""
}

// sideAnswer is a series, or a value for each value of a label.
type sideAnswer struct {
	series  forecast.Series
	byLabel map[string]float64
	err     error
}

// number is the value at the newest step, 0 for none.
func (a sideAnswer) number() float64 {
	if n := a.series.Len(); n > 0 && !math.IsNaN(a.series.Values[n-1]) {
		return a.series.Values[n-1]
	}
	return 0
}

// sideState is what a worker keeps of its side queries.
type sideState struct {
	// saturation is when the saturation signal was above 0; nil before its first query.
	saturation *flags
	// work is what may wait; nil before its first query.
	work *series.Store
	// shares are what Measured returned over the budget's period, each for the interval that ends at its time; NaN if unknown.
	shares forecast.Series
	// ready is how many replicas were ready when the signal was judged for the last time; 0 if unknown.
	ready float64
	// pauses after failures: the demand, which the same refresh queries, must not wait for a query that fails at every step.
	pauses map[SideQuery]pause
}

// pause is until when nothing is asked, after so many failures.
type pause struct {
	until    time.Time
	failures int
}

// sideResult is what side queries returned, as it is published.
type sideResult struct {
	// saturationErr, workErr and measuredErr are those of the newest queries.
	saturationErr, workErr, measuredErr error
	// clusters is how many clusters' demand is added up; 0 where the store has no label for it.
	clusters float64
	// silent is how many ready replicas did not report at the last two times that they were counted.
	silent [2]float64
	doubts doubts
	// unowned is how many pods report without a known owner; asked only while the newest sample is missing.
	unowned float64
}

// askBeside asks the side queries that are due, after a query for the demand.
func (w *worker) askBeside(ctx context.Context, source LabelSource, of Query, m moment) {
	for i := range sideQueries {
		side := &sideQueries[i]
		q := of
		q.Expr, q.From = w.job.SideQueries[side.name], of.To
		if q.Expr == "" || !side.due(w, m) || w.inRetryPause(m.now, w.pauses[side.name].until) {
			continue
		}
		if side.window != nil {
			q = side.window(w, q, m)
		}
		a := side.ask(ctx, source, q)
		w.notePause(side.name, m.now, a.err)
		side.take(w, a)
	}
}

// ask asks the source. No series are no error: a queue that was never used has none.
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

// notePause notes until when a query is not asked again.
func (w *worker) notePause(name SideQuery, now time.Time, err error) {
	if err == nil {
		delete(w.pauses, name)
		return
	}
	failures := w.pauses[name].failures
	if w.pauses == nil {
		w.pauses = map[SideQuery]pause{}
	}
	w.pauses[name] = pause{now.Add(w.pauseAfter(failures)), failures + 1}
}

// keepSides takes over what side queries returned to the worker before.
func (w *worker) keepSides(before *worker) {
	for i := range sideQueries {
		side := &sideQueries[i]
		if side.keep != nil && before.job.SideQueries[side.name] == w.job.SideQueries[side.name] {
			side.keep(w, before)
		}
	}
}

func (w *worker) takeClusters(a sideAnswer) {
	if a.err == nil {
		w.result.clusters = a.number()
	}
}

func (w *worker) takeSilent(a sideAnswer) {
	if a.err == nil {
		w.result.silent = [2]float64{w.result.silent[1], a.number()}
	}
}

func (w *worker) takeReady(a sideAnswer) { w.ready = a.number() }

func (w *worker) takeUnowned(a sideAnswer) {
	if a.err == nil {
		w.result.unowned = a.number()
	}
}
