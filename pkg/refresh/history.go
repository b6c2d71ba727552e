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
	// The newest samples are read again for at least minOverlap and at most maxOverlap. Older changes are seen when the history
	// is read again, at an anchor.
	minOverlap, maxOverlap = 5 * time.Minute, time.Hour
	// exploration is how often samples are read again for the whole maxOverlap.
	exploration = 10 * time.Minute
	// overlapHalfLife is the time in which the overlap falls by half while nothing changes.
	overlapHalfLife = 30 * time.Minute
)

// ingestDelay is how old the samples of a source were when they changed: remote writes and recording rules come late, those of one
// shard later than those of another. What it knows decides what is read again. Which samples are incomplete depends on the newest
// two reads alone, so that all adapter replicas agree soon.
type ingestDelay struct {
	step time.Duration
	// overlap is how far back samples are read again: twice the age at which one changed, and less and less from then on. A
	// replica that has just started knows nothing, and begins with the most.
	overlap time.Duration
	// grew is the age of the oldest sample that was larger at the newest read, and at the one before; 0 if none was.
	grew [2]time.Duration
	// changed: a sample has changed since the last anchor.
	changed bool
}

func newIngestDelay(step time.Duration) ingestDelay {
	return ingestDelay{step: step, overlap: maxOverlapOf(step)}
}

// maxOverlapOf is the longest overlap for a step.
func maxOverlapOf(step time.Duration) time.Duration { return max(maxOverlap, 4*step) }

// overlapAt is how far back samples are read again when the newest step is read.
func (l *ingestDelay) overlapAt(newest time.Time) time.Duration {
	if newest.UnixNano()%int64(exploration) < int64(l.step) {
		return maxOverlapOf(l.step)
	}
	return l.overlap
}

// read records the oldest step that changed at a read, and the oldest one whose sample was larger; zero where there is none.
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

// incompleteFor is the age from which on samples are complete; 0 if all are.
func (l *ingestDelay) incompleteFor() time.Duration { return max(l.grew[0], l.grew[1]) }

// flags store for the newest steps of a series whether it was above 0, one bit each. A gap is not above 0.
type flags struct {
	step time.Duration
	// bits of the steps since the epoch, modulo the number of bits.
	bits []uint64
	end  int64
}

// newFlags returns flags of at least so many steps.
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

// at reports whether the series was above 0 at a step; false where the step is not stored.
func (f *flags) at(t time.Time) bool {
	i := t.UnixNano() / int64(f.step)
	if i >= f.end || i < f.end-f.size() {
		return false
	}
	word, bit := f.place(i)
	return *word&bit != 0
}

// add adds the values that follow, and replaces those that are stored, as far as they are known now; steps before the block
// are not above 0. It returns the oldest step that at would have answered differently before; zero if there is none. A block on
// another grid is refused with forecast.ErrParameter.
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

// align is the last multiple of step since the epoch at or before t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}

// rebuildsAt reports whether the forecaster must be rebuilt before it steps to an end.
func (w *worker) rebuildsAt(end time.Time) bool {
	return w.forecaster == nil || w.anchorAt(end).After(w.anchor) ||
		slices.ContainsFunc(w.background.Requested(), w.forecaster.Lacks)
}

// anchorAt is the anchor of an end: the time at which the forecaster was last rebuilt from its history. Anchors are multiples of the
// refit interval, on the step's grid, shifted by an offset from the name, so that a thousand Forecasts do not refit at once.
// What comes late before an anchor has mostly come when it takes effect.
func (w *worker) anchorAt(end time.Time) time.Time {
	return align(align(end.Add(-maxOverlapOf(w.job.Step)-w.offset), w.refit).Add(w.offset), w.job.Step)
}

// noteRequested notes the models that requests have named, for a forecaster that is rebuilt. A model stays fitted until no request
// has named it from one anchor to the next.
func (w *worker) noteRequested(newAnchor bool) {
	requested := w.background.Requested()
	if newAnchor {
		w.requested = nil
		w.background.ForgetRequested()
	}
	w.requested = slices.Compact(slices.Sorted(slices.Values(append(requested, w.requested...))))
}

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

// turn is a source and a namespace. The namespaces of a source take turns.
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
		w.awaited = false // Values of other Forecasts are published meanwhile.
	}
}

// awaitsWhole reports whether it is to read its whole history as soon as it is its turn.
func (w *worker) awaitsWhole(now time.Time) bool {
	return w.partial && w.store != nil && !w.inRetryPause(now, w.wholeRetry)
}

// need is how much a Forecast needs its whole history: one that an autoscaler reads first, then by how much of its highest demand the
// demand has moved.
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

// fetchWhole fetches the whole history. Until it is here, what has been read serves.
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

// demand is the series of [from, to): the samples, and 0 for steps without a sample while the workload was scaled to
// zero. The store keeps only samples, so that what becomes known of replicas later takes effect at the next anchor.
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

// newestSample is the time of the newest step whose demand is known; ok is false if none is.
func (w *worker) newestSample() (at time.Time, ok bool) {
	at, ok = w.store.NewestSample()
	zero, slept := w.job.ScaledToZero.NewestStep(w.store.End().Add(-w.job.Step), w.job.Step)
	if slept && !zero.Before(w.store.Start()) && zero.After(at) {
		return zero, true
	}
	return at, ok
}
