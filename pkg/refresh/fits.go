package refresh

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// fits bounds the refreshes that compute, whose processors and memory all sources share: one for each processor. Namespaces take
// turns, so that one with many Forecasts, or with ones that change all the time, does not delay the others.
type fits struct {
	mu   sync.Mutex
	free int
	// waiting are the refreshes of each namespace, the oldest first.
	waiting map[string]*waitingFits
	// served is the turn in which a namespace had one last.
	served map[string]uint64
	turn   uint64
}

// waitingFits are a namespace's own: those that only step come before those that fit anew.
type waitingFits struct{ steps, rebuilds []chan struct{} }

func newFits() *fits {
	return &fits{free: runtime.GOMAXPROCS(0), waiting: map[string]*waitingFits{}, served: map[string]uint64{}}
}

// run runs a refresh in the turn of its namespace.
func (f *fits) run(namespace string, rebuild bool, refresh func()) {
	f.enter(namespace, rebuild)
	defer f.leave()
	refresh()
}

// enter waits for a place.
func (f *fits) enter(namespace string, rebuild bool) {
	f.mu.Lock()
	if f.free > 0 {
		f.free--
		f.serve(namespace)
		f.mu.Unlock()
		return
	}
	own := f.waiting[namespace]
	if own == nil {
		own = &waitingFits{}
		f.waiting[namespace] = own
	}
	turn := make(chan struct{})
	if rebuild {
		own.rebuilds = append(own.rebuilds, turn)
	} else {
		own.steps = append(own.steps, turn)
	}
	f.mu.Unlock()
	<-turn
}

// leave gives the place to the namespace that has waited longest for a turn.
func (f *fits) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		f.free++
		return
	}
	next := slices.MinFunc(slices.Collect(maps.Keys(f.waiting)), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.served[a], f.served[b]), cmp.Compare(a, b))
	})
	own := f.waiting[next]
	queue := &own.steps
	if len(own.steps) == 0 {
		queue = &own.rebuilds
	}
	close((*queue)[0])
	*queue = (*queue)[1:]
	if len(own.steps)+len(own.rebuilds) == 0 {
		delete(f.waiting, next)
	}
	f.serve(next)
}

func (f *fits) serve(namespace string) {
	f.turn++
	f.served[namespace] = f.turn
}

const (
	// besidePause is the time until what is made beside the steps is made again, watchedPause the same while somebody has looked at it
	// within watchedFor.
	besidePause, watchedPause = 6 * time.Hour, 2 * time.Hour
	watchedFor                = 24 * time.Hour
)

// makeBeside forecasts the next day of a Forecast, and reads how many replicas were ready, where that is due. No step waits for it.
func (l *Loop) makeBeside(ctx context.Context, w *worker, now time.Time) {
	pause := besidePause
	if w.beside.LookedSince(now.Add(-watchedFor)) {
		pause = watchedPause
	}
	if w.forecaster == nil || w.partial || now.Sub(w.besideMade).Abs() < pause { // The clock may have been set back.
		return
	}
	w.besideMade = now
	job, hours, into, ready := w.job, w.forecaster.Hours(), w.beside, w.readyQuery()
	l.beside.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				l.log.ErrorContext(ctx, "a forecast of the next day panicked: please report this",
					"forecast", job.Key.String(), "fault", fault, "stack", string(debug.Stack()))
			}
		}()
		made := snapshot.Beside{Ready: l.fetchReady(ctx, &job, ready)}
		l.fits.run(job.Key.Namespace, true, func() { made.NextDay = hours.NextDay() })
		into.Set(&made)
	})
}

// readyQuery is the query for the replicas that were ready in the race; it has no expression where there is no race, or nobody counts
// them.
func (w *worker) readyQuery() Query {
	e := w.result.entry
	if e == nil || e.Objective == nil || e.Objective.Race == nil || len(e.Objective.Race.Intervals) == 0 {
		return Query{}
	}
	race := e.Objective.Race
	return Query{
		Namespace: w.job.Key.Namespace, Source: w.job.Source, Expr: w.job.SideQueries[Ready], Step: race.Step,
		From: race.Start, To: race.Start.Add(time.Duration(len(race.Intervals)-1) * race.Step),
	}
}

// fetchReady answers a readyQuery; empty without an answer.
func (l *Loop) fetchReady(ctx context.Context, t *Job, q Query) forecast.Series {
	if q.Expr == "" {
		return forecast.Series{}
	}
	ready, err := fetchOnGrid(ctx, slottedSource{Loop: l}, q)
	if err != nil {
		l.log.DebugContext(ctx, "ready replicas are not known", "forecast", t.Key.String(), "error", err)
	}
	return ready
}

const (
	// The newest samples are read again for at least minOverlap and at most maxOverlap. Older changes are seen when the history
	// is read again, at an anchor.
	minOverlap, maxOverlap = 5 * time.Minute, time.Hour
	// exploration is how often samples are read again for the whole maxOverlap.
	exploration = 10 * time.Minute
	// overlapHalfLife is the time in which the overlap falls by half while nothing changes.
	overlapHalfLife = 30 * time.Minute
)

// lateness is how old the samples of a source were when they changed: remote writes and recording rules come late, those of one
// shard later than those of another. What it knows decides what is read again. Which samples are incomplete depends on the newest
// two reads alone, so that all adapter replicas agree soon.
type lateness struct {
	step time.Duration
	// overlap is how far back samples are read again: twice the age at which one changed, and less and less from then on. A
	// replica that has just started knows nothing, and begins with the most.
	overlap time.Duration
	// grew is the age of the oldest sample that was larger at the newest read, and at the one before; 0 if none was.
	grew [2]time.Duration
	// changed: a sample has changed since the last anchor.
	changed bool
}

func newLateness(step time.Duration) lateness {
	return lateness{step: step, overlap: maxOverlapOf(step)}
}

// maxOverlapOf is the longest overlap for a step.
func maxOverlapOf(step time.Duration) time.Duration { return max(maxOverlap, 4*step) }

// overlapAt is how far back samples are read again when the newest step is read.
func (l *lateness) overlapAt(newest time.Time) time.Duration {
	if newest.UnixNano()%int64(exploration) < int64(l.step) {
		return maxOverlapOf(l.step)
	}
	return l.overlap
}

// read records the oldest step that changed at a read, and the oldest one whose sample was larger; zero where there is none.
func (l *lateness) read(changed, grown, newest time.Time) {
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
func (l *lateness) incompleteFor() time.Duration { return max(l.grew[0], l.grew[1]) }

// spender is whose replica time is counted: a policy's, on a variant or on the only workload, by its name.
type spender struct{ policy, variant string }

// countHours adds the hours that have ended to the counters, and reports whether there are any. Those before the first result are history.
func (w *worker) countHours() bool {
	calibrator := w.forecaster.Calibrator()
	if calibrator == nil || calibrator.HourEnded().IsZero() {
		return false
	}
	if w.counted.IsZero() {
		w.counted = calibrator.HourEnded()
	}
	took := calibrator.SpentSince(w.counted)
	if w.spent != nil && took.Hours == 0 {
		return false
	}
	w.counted = w.counted.Add(time.Duration(took.Hours) * time.Hour)
	if w.spent == nil {
		w.spent = map[spender]float64{}
	}
	first := w.workloadName()
	for policy, hours := range map[string]float64{
		snapshot.PolicyServed: took.Served, snapshot.PolicyObserved: took.Observed, snapshot.PolicyBefore: took.Before,
		snapshot.PolicyHindsight: took.Hindsight,
	} {
		if policy == snapshot.PolicyServed && len(w.job.Variants) > 0 {
			continue
		}
		w.spent[spender{policy, first}] += hours
	}
	for i, hours := range w.forecaster.PaidByPart(took.Hours) {
		w.spent[spender{snapshot.PolicyServed, w.job.Variants[i].Name}] += hours
	}
	return true
}

// workloadName is that of the Forecast's target, which is also that of its first variant.
func (w *worker) workloadName() string {
	_, name, _ := strings.Cut(w.job.Workload, "/")
	return name
}

// spending is what has been counted, with the hours that have ended by now, in a fixed order. It is made again when there are any, and
// for a worker that has taken it over, whose prices may be others.
func (w *worker) spending() []snapshot.Spent {
	if !w.countHours() && w.spentNow != nil {
		return w.spentNow
	}
	prices := map[string]float64{w.workloadName(): w.job.Price}
	for i := range w.job.Variants {
		prices[w.job.Variants[i].Name] = w.job.Variants[i].Price
	}
	var out []snapshot.Spent
	for of, hours := range w.spent {
		out = append(out, snapshot.Spent{
			Policy: of.policy, Variant: of.variant, ReplicaHours: hours, Price: prices[of.variant],
		})
	}
	slices.SortFunc(out, func(a, b snapshot.Spent) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant))
	})
	w.spentNow = out
	return out
}

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
		return changed, fmt.Errorf("a block at %s with step %s on a grid of %s: %w",
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
