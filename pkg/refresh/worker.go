package refresh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// worker keeps one Forecast up to date. A job (advance) owns all of it but shown and fallbacks while it runs; between
// jobs the loop does.
type worker struct {
	target  Target
	anchors anchors
	seasons []time.Duration
	store   *series.Store
	// limits is when the limit signal was above 0; nil where it was never asked for. It is not asked for before
	// limitRetry: the demand, which the same job asks for, must not wait for one that fails at every step.
	limits        *series.Flags
	limitRetry    time.Time
	limitFailures int
	forecaster    *forecaster.Forecaster
	anchor        time.Time

	fetched  time.Time // the last step that was asked for with success
	retry    time.Time // not before then
	failures int
	rebuilds uint64

	// found is what the last job found, shown what the loop shows: the same, but that a job under way does not touch it.
	found, shown view
	fallbacks    uint64
}

func newWorker(t Target, c Config) *worker {
	w := &worker{target: t, anchors: newAnchors(t.Key, c.Refit, t.Step), seasons: t.Seasons}
	if len(w.seasons) == 0 {
		w.seasons = []time.Duration{c.Season}
	}
	return w
}

// inherit takes over the samples of the worker before, so that a change of a Forecast that leaves its query alone takes
// effect without reading the history again. Where the object itself is the same, and only its measured lead time or its
// autoscalers are not, what was shown is shown until the first job is done: nobody asked this object for the change, so a
// source that does not answer at that moment must not cost the value.
func (w *worker) inherit(before *worker) {
	old := before.target
	if before.store != nil && old.Expr == w.target.Expr && old.Step == w.target.Step &&
		old.History >= w.target.History {
		w.store = before.store
		if old.Saturated == w.target.Saturated {
			w.limits = before.limits
		}
		if old.Generation == w.target.Generation {
			w.found, w.shown = before.shown, before.shown
		}
	}
	w.fallbacks = before.fallbacks
}

// newest is the newest step to ask for at a time: one behind it, because the samples of the running step may still come.
func (w *worker) newest(now time.Time) time.Time {
	return align(now, w.target.Step).Add(-w.target.Step)
}

// due says whether there is something new to ask for.
func (w *worker) due(now time.Time) bool {
	return w.newest(now).After(w.fetched) && !w.pauses(now, w.retry)
}

// longestRetry bounds the pause between attempts to read a history that never came.
const longestRetry = 5 * time.Minute

// pauses says that it is too early for another attempt. A pause that is longer than any was made by a clock that was set back
// since.
func (w *worker) pauses(now, retry time.Time) bool {
	return now.Before(retry) && retry.Sub(now) <= max(longestRetry, w.target.Step)
}

// outran says that steps were asked for that are yet to come, and that no sample is of such a time: the clock was ahead, and
// was set back. What is held says of those steps that they have no sample. (Where one has, it is the clock that is behind.)
func (w *worker) outran(now time.Time) bool {
	if w.store == nil || !w.fetched.After(w.newest(now).Add(w.target.Step)) {
		return false
	}
	newest, known := w.store.NewestSample()
	return !known || !newest.After(now)
}

// advance asks for what is new and steps through it; what it finds is in w.found.
func (w *worker) advance(ctx context.Context, now time.Time, source Source) {
	q := w.query(now)
	block, err := fetch(ctx, source, q)
	w.found.attempted, w.found.err = true, err
	if errors.Is(err, series.ErrNone) && (w.store != nil || w.slept(q)) {
		// The series is gone for now: that is demand 0 or a gap, and the ladder's business.
		block, err = gaps(q), nil
	}
	if err != nil {
		w.fail(now)
		return
	}
	w.failures, w.fetched = 0, q.To
	w.askLimit(ctx, now, source)
	w.take(block)
}

// fetch asks the source and keeps an answer that is not what was asked for out of the store.
func fetch(ctx context.Context, source Source, q Query) (forecast.Series, error) {
	if q.To.Before(q.From) {
		return forecast.Series{Start: q.From, Step: q.Step}, nil
	}
	block, err := source.Fetch(ctx, q)
	if err != nil {
		return forecast.Series{}, err
	}
	if !block.Start.Equal(q.From) || block.Step != q.Step || len(block.Values) != q.Points() {
		return forecast.Series{}, fmt.Errorf(
			"%w: asked for %d points from %s, got %d from %s: the source is not on the grid",
			series.ErrUnavailable,
			q.Points(),
			q.From,
			len(block.Values),
			block.Start,
		)
	}
	return block, nil
}

// fail puts the next attempt off: by a step, and ever longer while no history was read at all, because that query is
// long. (Not where there is no series yet: that is cheap to ask, and the first sample should be seen when it comes.)
func (w *worker) fail(now time.Time) {
	pause := w.target.Step
	if w.store == nil && !errors.Is(w.found.err, series.ErrNone) {
		pause = min(w.target.Step<<min(w.failures, 10), longestRetry)
	}
	w.failures++
	w.retry = now.Add(pause)
}

// query is the range that is missing: the whole history before the last anchor at first, then what came since.
func (w *worker) query(now time.Time) Query {
	var end time.Time
	if w.store != nil {
		end = w.store.End()
	}
	return w.missing(w.target.Expr, end, w.newest(now))
}

// missing is the range up to a step that follows what is held.
func (w *worker) missing(expr string, end, to time.Time) Query {
	from := align(w.anchors.at(to).Add(-w.target.History), w.target.Step)
	if end.After(from) {
		from = end
	}
	return Query{Namespace: w.target.Key.Namespace, Expr: expr, From: from, To: to, Step: w.target.Step}
}

func gaps(q Query) forecast.Series {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		out.Values[i] = math.NaN()
	}
	return out
}

// take stores a block and brings the forecaster up to its end.
func (w *worker) take(block forecast.Series) {
	if w.store == nil {
		w.store = series.NewStore(w.target.Step, w.kept())
	}
	dropped, err := w.store.Append(block)
	if err != nil {
		w.found.err = err
		return
	}
	w.found.dropped = dropped
	w.step()
	w.look()
}

// kept is how many steps are held: what a rebuild needs, and what came since.
func (w *worker) kept() int { return int((w.target.History+w.anchors.refit)/w.target.Step) + 2 }

// step rebuilds the forecaster where an anchor has passed, then steps it to the end of the store.
func (w *worker) step() {
	end := w.store.End()
	if anchor := w.anchors.at(end); w.forecaster == nil || anchor.After(w.anchor) {
		w.rebuild(anchor)
	}
	came := w.history(w.forecaster.Read(), end)
	for i := range came.Values {
		w.forecaster.Step(came.Reading(i))
	}
}

func (w *worker) rebuild(anchor time.Time) {
	w.anchor = anchor
	w.rebuilds++
	w.forecaster = forecaster.New(forecaster.Config{
		Step: w.target.Step, Window: leadtime.Window(w.target.Lead), Seasons: w.seasons, Rate: w.target.Rate,
		Lookback: w.target.Lookback, Models: w.target.Models, Policy: w.target.policy(), Scalings: w.target.Scalings,
	}, w.history(align(anchor.Add(-w.target.History), w.target.Step), anchor))
}

// history is the demand of [from, to) as it was read.
func (w *worker) history(from, to time.Time) forecaster.History {
	out := forecaster.History{Series: w.demand(from, to), AtZero: w.target.AtZero.At}
	if w.limits != nil {
		out.Saturated = w.limits.At
	}
	return out
}

// look takes down what is known now.
func (w *worker) look() {
	w.found.stored, w.found.entry = true, nil
	newest, ok := w.newestSample()
	if !ok {
		return
	}
	e := describe(w.target)
	w.forecaster.Describe(e)
	w.found.doubt, w.found.doubted = w.forecaster.Spans().Newest(w.store.End())
	w.suspend(e)
	e.SampleTime, e.StaleAt = newest, newest.Add(w.target.StaleAfter)
	sampled, _ := w.store.NewestSample()
	w.found.absent = newest.After(sampled) && newest.Add(w.target.Step).Equal(w.store.End())
	w.found.entry = e
	w.found.decided, w.found.span = w.forecaster.Decided(), w.forecaster.Span()
	w.found.season = w.seasons[0]
	w.found.fallback = w.forecaster.Fallback()
}
