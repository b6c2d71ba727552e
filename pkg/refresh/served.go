package refresh

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// servedValues are the values that were served, until the forecaster has played the steps in which they were in force. The loop notes
// them while a refresh may read them.
type servedValues struct {
	mu     sync.Mutex
	values []servedValue
}

// servedValue is in force from a time on, until the next one is.
type servedValue struct {
	from  time.Time
	value float64
}

// maxServedValues bounds what is kept while a source has no samples.
const maxServedValues = 1 << 12

// note notes the value that is in force from a time on; NaN for none.
func (s *servedValues) note(from time.Time, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.values)
	for n > 0 && !s.values[n-1].from.Before(from) { // The clock was set back, or it is the same step.
		n--
	}
	s.values = s.values[:n]
	if n > 0 && math.Float64bits(s.values[n-1].value) == math.Float64bits(value) {
		return
	}
	if n == maxServedValues {
		s.values = s.values[:copy(s.values, s.values[n/2:])]
	}
	s.values = append(s.values, servedValue{from, value})
}

// at is the value that was in force at a time, if it is known.
func (s *servedValues) at(at time.Time) (value float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range slices.Backward(s.values) {
		if !v.from.After(at) {
			return v.value, true
		}
	}
	return 0, false
}

// forget forgets the values that were replaced before a time.
func (s *servedValues) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	replaced := 0
	for replaced+1 < len(s.values) && !s.values[replaced+1].from.After(before) {
		replaced++
	}
	s.values = s.values[:copy(s.values, s.values[replaced:])]
}

// noteServed notes what an entry serves from a step on: in shadow mode what it would serve.
func (w *worker) noteServed(e *snapshot.ForecastState, now time.Time) {
	value := math.NaN()
	if e.State.Serves() {
		value = e.Decision.Value
		if e.Settings.Mode == decide.Shadow && !e.Decision.Pause.Active() {
			value = e.Decision.WouldServe
		}
	}
	w.served.note(align(now, w.job.Step), value)
}

// publish makes a forecaster record what is served. It takes over the record of the forecaster before it, and the hours in the status,
// which another replica or an earlier process has served.
func (w *worker) publish(f *forecaster.Forecaster) {
	calibrator := f.Calibrator()
	if w.partial || calibrator == nil {
		return
	}
	calibrator.Adopt(w.recorder)
	calibrator.Publish(w.served.at)
	calibrator.Restore(w.job.Record)
	if w.settled == nil || f == w.settled {
		w.recorder = calibrator
		w.served.forget(f.End().Add(-w.job.Step))
	}
}

const (
	// flapTime: a problem that comes back within this time comes and goes. Its condition stays until the problem has been over for
	// calmTime. Other conditions stay until their problem has been over for twice as long as it was there, at most calmTime.
	flapTime = time.Hour
	calmTime = 30 * time.Minute
)

// problem is what was last said of a problem.
type problem struct {
	condition snapshot.Condition
	// since and last are when it was there, over when it was last said to be over. flaps: it comes and goes.
	since, last, over time.Time
	said, flaps       bool
	// initial: it was there from the beginning: nobody expects it to come back.
	initial bool
}

// steady keeps the conditions of problems that come and go, so that they do not change with them.
func (w *worker) steady(conditions []snapshot.Condition, now time.Time) []snapshot.Condition {
	for _, kind := range []string{snapshot.ConditionSource, snapshot.ConditionData, snapshot.ConditionSignal} {
		at := slices.IndexFunc(conditions, func(c snapshot.Condition) bool { return c.Type == kind })
		p := w.problems[kind]
		switch bad := at >= 0 && !conditions[at].True; {
		case p == nil:
			w.problems[kind] = &problem{said: bad, initial: bad}
		case bad && p.said && conditions[at].Reason == snapshot.ReasonSuddenLow &&
			p.condition.Reason == snapshot.ReasonOutageSuspected && now.Sub(p.last) < p.lingers():
			p.last, conditions[at] = now, p.condition // An outage that comes back begins as a sudden low.
		case bad:
			if !p.said {
				p.since, p.flaps = now, now.Sub(p.over) < flapTime
			}
			p.condition, p.last, p.said = conditions[at], now, true
		case !p.said:
		case now.Sub(p.last) < p.lingers():
			c := p.condition
			c.Message += "; this is over since " + formatTime(p.last)
			if at < 0 {
				conditions = append(conditions, c)
			} else {
				conditions[at] = c
			}
		default:
			if !p.initial {
				p.over = now
			}
			p.said, p.flaps, p.initial = false, false, false
		}
	}
	return conditions
}

// lingers is how long the condition stays after the problem.
func (p *problem) lingers() time.Duration {
	switch {
	case p.initial:
		return 0
	case p.flaps:
		return calmTime
	}
	return min(2*p.last.Sub(p.since), calmTime)
}

// align is the last multiple of step since the epoch at or before t.
func align(t time.Time, step time.Duration) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(step)).UTC()
}

// rebuildsAt reports whether the forecaster must be made anew to step to an end.
func (w *worker) rebuildsAt(end time.Time) bool {
	return w.forecaster == nil || w.anchorAt(end).After(w.anchor) ||
		slices.ContainsFunc(w.beside.Requested(), w.forecaster.Lacks)
}

// anchorAt is the anchor of an end: the time at which the forecaster was last rebuilt from its history. Anchors are multiples of the
// refit interval, on the step's grid, shifted by an offset from the name, so that a thousand Forecasts do not refit at once.
// What comes late before an anchor has mostly come when it takes effect.
func (w *worker) anchorAt(end time.Time) time.Time {
	return align(align(end.Add(-maxOverlapOf(w.job.Step)-w.offset), w.refit).Add(w.offset), w.job.Step)
}

// noteRequested notes the models that requests have named, for a forecaster that is made anew. A model stays fitted until no request
// has named it from one anchor to the next.
func (w *worker) noteRequested(newAnchor bool) {
	requested := w.beside.Requested()
	if newAnchor {
		w.requested = nil
		w.beside.ForgetRequested()
	}
	w.requested = slices.Compact(slices.Sorted(slices.Values(append(requested, w.requested...))))
}

// slots bounds the queries in flight, for each source and for each namespace. A source that hangs, and the namespaces that
// read from it, take no slots from the others.
type slots struct {
	perSource, perNamespace int

	mu *sync.Mutex
	// taken has a channel for each source and each namespace.
	taken map[slotKey]chan struct{}
}

// slotKey is a source, or a namespace.
type slotKey struct{ source, namespace string }

func newSlots(perSource, perNamespace int) slots {
	return slots{
		perSource: perSource, perNamespace: perNamespace,
		mu: new(sync.Mutex), taken: make(map[slotKey]chan struct{}),
	}
}

// acquire waits for a slot of the namespace, then for one of the source. In this order a namespace that has reached its
// own bound takes no slot from the others.
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
	w.result.wholeErr, w.partial, w.late = nil, false, newLateness(w.job.Step)
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

// scaledToZeroCondition is present while the demand is 0 because there are no replicas.
func (r *result) scaledToZeroCondition(e *snapshot.ForecastState, t Job) snapshot.Condition {
	from, zero := t.ScaledToZero.ZeroSince(e.SampleTime)
	if r.entry == nil || !r.withoutReplicas || !zero {
		return snapshot.Condition{}
	}
	return snapshot.Condition{
		Type: snapshot.ConditionScaledToZero, True: true, Reason: reasonNoReplicas,
		Message: t.Workload + " is scaled to zero: a step without a sample is demand 0, since " + formatTime(from),
	}
}
