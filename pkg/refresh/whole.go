package refresh

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// partialHistory is what a Forecast answers from until it is its turn to read the whole history: enough for what was observed over
// the lead window, and for the prior's headroom above the newest demand.
const partialHistory = time.Hour

// wholePerNamespace and wholePerSource are how many whole histories are read at once, for each processor: enough that none is idle
// between two steps, few enough that what is read fits into memory, and more than one namespace whose queries hang can hold.
const wholePerNamespace, wholePerSource = 16, 64

// startPartial lets new Forecasts answer from their newest history where they are so many that most would wait for the whole one.
func (l *Loop) startPartial() {
	var fresh []*worker
	for _, w := range l.workers {
		if !l.busy[w] && w.store == nil && w.failures == 0 && w.published.entry == nil {
			fresh = append(fresh, w)
		}
	}
	if len(fresh) <= wholePerNamespace*runtime.GOMAXPROCS(0) {
		return
	}
	for _, w := range fresh {
		w.partial = true
	}
}

// logPartial logs how many Forecasts have a part of their history, whenever another tenth of all has the whole.
func (l *Loop) logPartial(ctx context.Context, before, now *snapshot.Snapshot) {
	all, partial := len(now.Keys()), 0
	if before != nil {
		partial = before.Partial
	}
	tenth := max(all/10, 1)
	switch {
	case now.Partial == 0 && partial > 0:
		l.log.InfoContext(ctx, "all Forecasts have their whole history", "forecasts", all)
	case now.Partial > 0 && (partial == 0 || (partial-1)/tenth != (now.Partial-1)/tenth):
		l.log.InfoContext(ctx, "Forecasts answer from their newest history while the whole is being read",
			"forecasts", all, "partial", now.Partial)
	}
}

// turn is a source and a namespace: those of a source take turns.
type turn struct{ source, namespace string }

// startWhole starts to read whole histories: of the namespace that reads the fewest now, the most needed first.
func (l *Loop) startWhole(ctx context.Context, now time.Time) {
	waiting, reading, ofSource := map[turn][]*worker{}, map[turn]int{}, map[string]int{}
	for _, w := range l.workers {
		of := turn{w.job.Source.Name, w.job.Key.Namespace}
		switch {
		case w.readsWhole:
			reading[of]++
			ofSource[of.source]++
		case !l.busy[w] && w.awaitsWhole(now):
			waiting[of] = append(waiting[of], w)
		}
	}
	for _, all := range waiting {
		slices.SortFunc(all, func(a, b *worker) int { // The last one first.
			return cmp.Or(cmp.Compare(a.published.need, b.published.need), cmp.Compare(b.job.Key.Name, a.job.Key.Name))
		})
	}
	for len(waiting) > 0 {
		next := nextTurn(waiting, reading)
		all, processors := waiting[next], runtime.GOMAXPROCS(0)
		full := reading[next] >= wholePerNamespace*processors || ofSource[next.source] >= wholePerSource*processors
		if len(all) == 0 || full {
			delete(waiting, next)
			continue
		}
		w := all[len(all)-1]
		waiting[next] = all[:len(all)-1]
		reading[next]++
		ofSource[next.source]++
		w.readsWhole = true
		l.start(ctx, w, now, nil)
		w.awaited = false // Values of other Forecasts are published meanwhile.
	}
}

// nextTurn is the turn of those that wait which reads the fewest.
func nextTurn(waiting map[turn][]*worker, reading map[turn]int) turn {
	return slices.MinFunc(slices.Collect(maps.Keys(waiting)), func(a, b turn) int {
		return cmp.Or(cmp.Compare(reading[a], reading[b]), cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.source, b.source))
	})
}

// awaitsWhole reports whether it is to read its whole history as soon as it is its turn.
func (w *worker) awaitsWhole(now time.Time) bool {
	return w.partial && w.store != nil && !w.inRetryPause(now, w.wholeRetry)
}

// need is how much a Forecast needs its whole history: one that an autoscaler reads first, then by how much of its highest demand the
// demand has moved.
func (w *worker) need() float64 {
	need := 0.0
	if slices.ContainsFunc(w.job.Autoscalers, func(a decide.Autoscaler) bool { return a.Name != decide.SpecScaling }) {
		need++
	}
	end := w.store.End()
	lowest, highest := math.Inf(1), 0.0
	for _, v := range w.store.Range(end.Add(-partialHistory), end).Values {
		if !math.IsNaN(v) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	if highest > 0 {
		need += (highest - lowest) / highest / 2
	}
	return need
}

// fetchWhole fetches the whole history. Until it is here, what has been read serves.
func (w *worker) fetchWhole(ctx context.Context, now time.Time, source Source) (forecast.Series, error) {
	w.wholeRetry = now.Add(w.pauseAfter(w.wholeFailures))
	w.wholeFailures++
	q := w.queryAfter(w.job.Expr, time.Time{}, w.newestStep(now))
	block, err := fetchOnGrid(ctx, source, q)
	if err != nil && !errors.Is(err, series.ErrNoSeries) {
		w.result.wholeErr = err
		return block, err
	}
	w.result.wholeErr, w.partial, w.late = nil, false, newLateness(w.job.Step)
	w.forget()
	if err != nil {
		return block, err
	}
	w.fetched = q.To
	w.fetchOthers(ctx, now, source, q)
	return block, nil
}
