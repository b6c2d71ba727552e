package refresh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

const (
	// Each refresh reads at least the last minOverlap and at most the last maxOverlap of the samples again. Older changes are seen when the
	// history is read again, at an anchor.
	minOverlap, maxOverlap = 5 * time.Minute, time.Hour
	// exploration is how often the samples of the full maxOverlap are read again.
	exploration = 10 * time.Minute
	// overlapHalfLife is the time in which the overlap is halved while nothing changes.
	overlapHalfLife = 30 * time.Minute
)

// ingestDelay has how old the samples of a source were when they changed. Remote writes and recording rules arrive late, and some shards
// later than others. The overlap depends on it. Which samples are incomplete depends only on the newest two reads, so all adapter replicas
// soon agree.
type ingestDelay struct {
	step time.Duration
	// overlap is how far back samples are read again. It is at least twice the age of the last sample that changed, and decays from then on. A
	// replica that has just started knows nothing and begins with the maximum.
	overlap time.Duration
	// grew is the age of the oldest sample that had become larger at the newest read, and at the read before it; 0 if there was none.
	grew [2]time.Duration
	// changed is true if a sample has changed since the last anchor.
	changed bool
}

func newIngestDelay(step time.Duration) ingestDelay {
	return ingestDelay{step: step, overlap: maxOverlapOf(step)}
}

// maxOverlapOf returns the longest overlap for a step.
func maxOverlapOf(step time.Duration) time.Duration { return max(maxOverlap, 4*step) }

// overlapAt returns how far back samples are read again when the newest step is read.
func (l *ingestDelay) overlapAt(newest time.Time) time.Duration {
	if newest.UnixNano()%int64(exploration) < int64(l.step) {
		return maxOverlapOf(l.step)
	}
	return l.overlap
}

// read records the oldest step that changed at a read, and the oldest step whose sample became larger. Each is zero if there is none.
func (l *ingestDelay) read(changed, grown, newest time.Time) {
	l.overlap = time.Duration(float64(l.overlap) * math.Exp2(-float64(l.step)/float64(overlapHalfLife)))
	l.grew = [2]time.Duration{0, l.grew[0]}
	most := maxOverlapOf(l.step)
	if !changed.IsZero() {
		l.changed = true
		l.overlap = max(l.overlap, 2*newest.Sub(changed))
	}
	if age := newest.Sub(grown); !grown.IsZero() && age <= most {
		l.grew[0] = age
	}
	l.overlap = min(max(l.overlap, minOverlap, 2*l.step), most)
}

// incompleteFor returns the age from which samples are complete; 0 if all of them are.
func (l *ingestDelay) incompleteFor() time.Duration { return max(l.grew[0], l.grew[1]) }

// flags stores one bit for each of the newest steps of a series: whether the value was above 0. A gap counts as not above 0.
type flags struct {
	step time.Duration
	// bits has the bits of the steps since the epoch, modulo the number of bits.
	bits []uint64
	end  int64
}

// newFlags returns flags for at least the given number of steps.
func newFlags(step time.Duration, size int) *flags {
	return &flags{step: step, bits: make([]uint64, (size+63)/64)}
}

// newestEnd returns the time after the newest step; zero before the first block.
func (f *flags) newestEnd() time.Time {
	if f.end == 0 {
		return time.Time{}
	}
	return time.Unix(0, f.end*int64(f.step)).UTC()
}

// at reports whether the series was above 0 at a step. It returns false if the step is not stored.
func (f *flags) at(t time.Time) bool {
	i := t.UnixNano() / int64(f.step)
	if i >= f.end || i < f.end-f.size() {
		return false
	}
	word, bit := f.place(i)
	return *word&bit != 0
}

// add adds the values that follow, and replaces stored values unless the new value is NaN. Missing steps before the block count as not
// above 0. It returns the oldest step for which at has changed its result, or zero if there is none. A block on another grid is an error
// that wraps forecast.ErrParameter.
func (f *flags) add(block forecast.Series) (changed time.Time, err error) {
	if block.Step != f.step || block.Start.UnixNano()%int64(f.step) != 0 {
		return changed, fmt.Errorf("block at %s with step %s does not match the grid of %s: %w",
			block.Start, block.Step, f.step, forecast.ErrParameter)
	}
	first := block.Start.UnixNano() / int64(f.step)
	f.end = max(f.end, first-f.size())
	for ; f.end < first; f.end++ {
		f.set(f.end, false)
	}
	for i, v := range block.Values {
		at, on := block.TimeAt(i), v > 0
		step := first + int64(i)
		stored := step < f.end
		if step < f.end-f.size() || stored && math.IsNaN(v) {
			continue
		}
		if changed.IsZero() && on != f.at(at) {
			changed = at
		}
		f.set(step, on)
		f.end = max(f.end, step+1)
	}
	return changed, nil
}

func (f *flags) set(step int64, on bool) {
	word, bit := f.place(step)
	*word &^= bit
	if on {
		*word |= bit
	}
}

func (f *flags) size() int64 { return 64 * int64(len(f.bits)) }

// place returns the position of a step's bit.
func (f *flags) place(step int64) (word *uint64, bit uint64) {
	i := step % f.size()
	return &f.bits[i/64], 1 << (i % 64)
}

// align returns the last multiple of step since the epoch that is not after t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}

// rebuildsAt reports whether the forecaster must be rebuilt before it steps to an end.
func (w *worker) rebuildsAt(end time.Time) bool {
	return w.forecaster == nil || w.anchorAt(end).After(w.anchor) ||
		slices.ContainsFunc(w.background.Requested(), w.forecaster.Lacks)
}

// anchorAt returns the anchor for an end, which is the time at which the forecaster was last rebuilt from its history. Anchors are
// multiples of the refit interval on the step's grid. An offset that depends on the name shifts them, so that a thousand Forecasts do not
// refit at the same time. An anchor takes effect later, when most late samples from before it have arrived.
func (w *worker) anchorAt(end time.Time) time.Time {
	return align(align(end.Add(-maxOverlapOf(w.job.Step)-w.offset), w.refit).Add(w.offset), w.job.Step)
}

// noteRequested adds the models that requests have selected, for a forecaster that is rebuilt. A model is dropped if no request selects it
// from one anchor to the next.
func (w *worker) noteRequested(newAnchor bool) {
	requested := w.background.Requested()
	if newAnchor {
		w.requested = nil
		w.background.ForgetRequested()
	}
	w.requested = slices.Compact(slices.Sorted(slices.Values(append(requested, w.requested...))))
}

// partialHistory is the history from which a Forecast answers until it is its turn to read the whole history. It is long enough for the
// demand over the lead window, and for the prior's headroom above the newest demand.
const partialHistory = time.Hour

// wholePerNamespace and wholePerSource limit how many whole histories are read at the same time, for each processor. They are large enough
// that no processor is idle between two steps, and small enough that the histories fit into memory. A source allows more than one
// namespace, so a namespace whose queries hang does not block it.
const wholePerNamespace, wholePerSource = 16, 64

// startPartial lets new Forecasts answer from their newest history if there are so many that most would have to wait for their whole
// history.
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

// logPartial logs how many Forecasts have only a part of their history, each time another tenth of all Forecasts has the whole history.
func (l *Loop) logPartial(ctx context.Context, before, now *snapshot.Snapshot) {
	all, partial := len(now.Keys()), 0
	if before != nil {
		partial = before.Partial
	}
	tenth := max(all/10, 1)
	switch {
	case now.Partial == 0 && partial > 0:
		l.log.InfoContext(ctx, "all Forecasts have read their whole history", "forecasts", all)
	case now.Partial > 0 && (partial == 0 || (partial-1)/tenth != (now.Partial-1)/tenth):
		l.log.InfoContext(ctx, "some Forecasts answer from their newest history while Forewarm reads the rest",
			"forecasts", all, "partial", now.Partial)
	}
}

// turn identifies a namespace of a source. The namespaces of a source take turns.
type turn struct{ source, namespace string }

// startWhole starts to read whole histories. The namespace that reads the fewest at the moment comes first, and within a namespace the
// Forecast with the greatest need.
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
		slices.SortFunc(all, func(a, b *worker) int { // The Forecast that comes first is last in the slice.
			return cmp.Or(cmp.Compare(a.published.need, b.published.need), cmp.Compare(b.job.Key.Name, a.job.Key.Name))
		})
	}
	for len(waiting) > 0 {
		next := slices.MinFunc(slices.Collect(maps.Keys(waiting)), func(a, b turn) int {
			return cmp.Or(cmp.Compare(reading[a], reading[b]), cmp.Compare(a.namespace, b.namespace),
				cmp.Compare(a.source, b.source))
		})
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
		w.awaited = false // The values of other Forecasts are published in the meantime.
	}
}

// awaitsWhole reports whether the worker is waiting for its turn to read its whole history.
func (w *worker) awaitsWhole(now time.Time) bool {
	return w.partial && w.store != nil && !w.inRetryPause(now, w.wholeRetry)
}

// need returns how urgently a Forecast needs its whole history. Forecasts that an autoscaler reads come first. The rest is ordered by how
// much the demand has varied, relative to its highest value.
func (w *worker) need() float64 {
	need, lowest, highest, end := 0.0, math.Inf(1), 0.0, w.store.End()
	if slices.ContainsFunc(w.job.Autoscalers, func(a decide.Autoscaler) bool { return a.Name != decide.SpecScaling }) {
		need++
	}
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

// fetchWhole fetches the whole history. Until it is complete, Forewarm serves from the history that it already has.
func (w *worker) fetchWhole(ctx context.Context, now time.Time, source LabelSource) (forecast.Series, error) {
	w.wholeRetry = now.Add(w.pauseAfter(w.wholeFailures))
	w.wholeFailures++
	q := w.queryAfter(w.job.Expr, time.Time{}, w.newestStep(now))
	block, err := fetchOnGrid(ctx, source, q)
	if err != nil && !errors.Is(err, series.ErrNoSeries) {
		w.result.wholeErr = err
		return block, err
	}
	w.result.wholeErr, w.partial, w.late = nil, false, newIngestDelay(w.job.Step)
	w.forget()
	if err != nil {
		return block, err
	}
	w.fetched = q.To
	w.fetchOthers(ctx, now, source, q)
	return block, nil
}

// demand returns the series of [from, to): the samples, and 0 for steps without a sample while the workload was scaled to zero. The store
// has only the samples. If more becomes known about the replicas later, it takes effect at the next anchor.
func (w *worker) demand(from, to time.Time) forecast.Series {
	out := w.store.Range(from, to)
	if !w.job.ScaledToZero.Any() {
		return out
	}
	for i, v := range out.Values {
		if math.IsNaN(v) && w.job.ScaledToZero.At(out.TimeAt(i)) {
			out.Values[i] = 0
		}
	}
	return out
}

// scaledToZeroIn reports whether the workload was scaled to zero at a step of a query.
func (w *worker) scaledToZeroIn(q Query) bool {
	zero, slept := w.job.ScaledToZero.NewestStep(q.To, q.Step)
	return slept && !zero.Before(q.From)
}

// newestSample returns the time of the newest step whose demand is known; ok is false if there is none.
func (w *worker) newestSample() (at time.Time, ok bool) {
	at, ok = w.store.NewestSample()
	zero, slept := w.job.ScaledToZero.NewestStep(w.store.End().Add(-w.job.Step), w.job.Step)
	if slept && !zero.Before(w.store.Start()) && zero.After(at) {
		return zero, true
	}
	return at, ok
}
