package refresh

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// fits limits how many refreshes compute at the same time, to one for each processor. All sources share the processors and the memory.
// Namespaces take turns. A namespace with many Forecasts, or with Forecasts that change all the time, therefore does not delay the others.
type fits struct {
	mu   sync.Mutex
	free int
	// waiting has the waiting refreshes of each namespace, the oldest first.
	waiting map[string]*waitingFits
	// served has the last turn of each namespace.
	served map[string]uint64
	turn   uint64
}

// waitingFits are the waiting refreshes of a namespace. Refreshes that only step come before refreshes that rebuild.
type waitingFits struct{ steps, rebuilds []chan struct{} }

func newFits() *fits {
	return &fits{free: runtime.GOMAXPROCS(0), waiting: map[string]*waitingFits{}, served: map[string]uint64{}}
}

// run runs a refresh when it is the turn of its namespace.
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

// leave gives the place to the namespace that has waited longest for its turn.
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
	// backgroundPause is the time between two computations in the background. If someone has looked at the result within watchedFor,
	// watchedPause applies instead.
	backgroundPause, watchedPause = 6 * time.Hour, 2 * time.Hour
	watchedFor                    = 24 * time.Hour
)

// computeBackground forecasts the next day of a Forecast and reads how many replicas were ready, if that is due. No step waits for it.
func (l *Loop) computeBackground(ctx context.Context, w *worker, now time.Time) {
	pause := backgroundPause
	if w.background.LookedSince(now.Add(-watchedFor)) {
		pause = watchedPause
	}
	if w.forecaster == nil || w.partial ||
		now.Sub(w.backgroundComputed).Abs() < pause { // The clock may have been set back.
		return
	}
	w.backgroundComputed = now
	job, hours, into, ready := w.job, w.forecaster.Hours(), w.background, w.readyQuery()
	l.background.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				l.log.ErrorContext(ctx, "the forecast of the next day panicked: please report this",
					"forecast", job.Key.String(), "fault", fault, "stack", string(debug.Stack()))
			}
		}()
		made := snapshot.Background{Hours: hours.Means(), Ready: l.fetchReady(ctx, &job, ready)}
		l.fits.run(job.Key.Namespace, true, func() { made.NextDay = hours.NextDay() })
		into.Set(&made)
	})
}

// readyQuery returns the query for the number of ready replicas during the race. It has no expression if there is no race, or if ready
// replicas are not measured.
func (w *worker) readyQuery() Query {
	e := w.result.entry
	if e == nil || e.Objective == nil || e.Objective.Replay == nil || len(e.Objective.Replay.Intervals) == 0 {
		return Query{}
	}
	race := e.Objective.Replay
	return Query{
		Namespace: w.job.Key.Namespace, Source: w.job.Source, Expr: w.job.SideQueries[Ready], Step: race.Step,
		From: race.Start, To: race.Start.Add(time.Duration(len(race.Intervals)-1) * race.Step),
	}
}

// fetchReady fetches the answer to a readyQuery. The result is empty if there is no answer.
func (l *Loop) fetchReady(ctx context.Context, t *Job, q Query) forecast.Series {
	if q.Expr == "" {
		return forecast.Series{}
	}
	ready, err := fetchOnGrid(ctx, slottedSource{Loop: l}, q)
	if err != nil {
		l.log.DebugContext(ctx, "cannot read the number of ready replicas", "forecast", t.Key.String(), "error", err)
	}
	return ready
}

// slots limits the queries in flight, for each source and for each namespace. A source that hangs, and the namespaces that read from it,
// therefore do not take slots from the others.
type slots struct {
	perSource, perNamespace int

	mu *sync.Mutex
	// taken has a channel for each source and for each namespace.
	taken map[slotKey]chan struct{}
}

// slotKey is either a source or a namespace.
type slotKey struct{ source, namespace string }

func newSlots(perSource, perNamespace int) slots {
	return slots{
		perSource: perSource, perNamespace: perNamespace,
		mu: new(sync.Mutex), taken: make(map[slotKey]chan struct{}),
	}
}

// acquire waits for a slot of the namespace, then for a slot of the source. In this order, a namespace that has reached its own limit does
// not take a slot from the others.
func (s slots) acquire(ctx context.Context, namespace, source string) (release func(), err error) {
	own := s.of(slotKey{namespace: namespace}, s.perNamespace)
	all := s.of(slotKey{source: source}, s.perSource)
	for _, slot := range []chan struct{}{own, all} {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if slot == all {
				<-own
			}
			return nil, ctx.Err()
		}
	}
	return func() { <-all; <-own }, nil
}

func (s slots) of(key slotKey, size int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] == nil {
		s.taken[key] = make(chan struct{}, size)
	}
	return s.taken[key]
}
