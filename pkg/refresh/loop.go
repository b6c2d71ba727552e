package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/run"
)

// Loop keeps the store up to date. Step and Run must not be called concurrently.
type Loop struct {
	config    Config
	source    Source
	jobs      Jobs
	snapshots *snapshot.Store
	log       *slog.Logger

	workers    map[snapshot.Key]*worker
	busy       map[*worker]bool
	done       chan *worker
	slots      slots
	fits       *fits
	background sync.WaitGroup
	clocks     sourceClocks
	queries    atomic.Uint64
	stats      snapshot.LoopStats
	// longest has the duration of the longest step that began in this minute, and of the longest one in the last minute before it that had
	// steps.
	minute  time.Time
	longest [2]time.Duration
}

// New returns a loop. Zero fields of the configuration get their defaults; the error lists all problems.
func New(config Config, source Source, jobs Jobs, snapshots *snapshot.Store, log *slog.Logger) (*Loop, error) {
	config = config.WithDefaults()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Loop{
		config: config, source: source, jobs: jobs, snapshots: snapshots, log: log,
		workers: make(map[snapshot.Key]*worker), busy: make(map[*worker]bool), done: make(chan *worker),
		slots: newSlots(config.Concurrency, config.PerNamespace), fits: newFits(),
	}, nil
}

// Step fetches what is new at a time, publishes a snapshot and returns it. Queries that take longer than the grace
// continue under ctx: their Forecasts are published unchanged, and a later step publishes the answers.
func (l *Loop) Step(ctx context.Context, now time.Time) *snapshot.Snapshot {
	jobs := l.jobs.List(now)
	l.reconcile(jobs)
	l.rereadAfterClockSetBack(ctx, now)
	l.startPartial()
	l.startWhole(ctx, now)
	var due []*worker
	for _, w := range l.workers {
		if !l.busy[w] && w.due(now) {
			due = append(due, w)
		}
	}
	asked := l.startBatches(ctx, due, now)
	for _, w := range due {
		l.start(ctx, w, now, asked)
	}
	l.collect(ctx)
	l.stats.Steps++
	l.stats.Queries = l.queries.Load()
	l.stats.Clocks = l.clocks.known()
	s := l.snapshot(jobs, now)
	before := l.snapshots.Load()
	logChanges(ctx, l.log, before, s)
	l.logPartial(ctx, before, s)
	l.snapshots.Publish(s)
	return s
}

// Run steps at every multiple of the smallest step until the context ends, then waits for the queries in flight.
func (l *Loop) Run(ctx context.Context, clock run.Clock) error {
	defer l.drain()
	for {
		begun := clock.Now()
		l.askClocks(ctx, clock, begun)
		l.Step(ctx, begun)
		now := clock.Now()
		l.observeStep(begun, now.Sub(begun))
		if clock.WaitUntil(ctx, l.nextStep(now)) != nil {
			return nil // Run ends when the context ends.
		}
	}
}

// observeStep keeps the longest duration. Most steps find no new sample, so the duration of the last step says little.
func (l *Loop) observeStep(begun time.Time, took time.Duration) {
	if minute := begun.Truncate(time.Minute); !minute.Equal(l.minute) {
		l.minute, l.longest = minute, [2]time.Duration{0, l.longest[0]}
	}
	l.longest[0] = max(l.longest[0], took)
	l.stats.StepSeconds = max(l.longest[0], l.longest[1]).Seconds()
}

// The pace of Run is the smallest step of all Forecasts, within these bounds.
const (
	minPace = time.Second
	maxPace = 15 * time.Second
	// pendingPace applies while queries are in flight, so that answers are published soon, and while histories wait for their turn.
	pendingPace = time.Second
)

func (l *Loop) nextStep(now time.Time) time.Time {
	pace := maxPace
	for _, w := range l.workers {
		if pace = min(pace, w.job.Step); !l.busy[w] && w.awaitsWhole(now) {
			pace = min(pace, pendingPace)
		}
	}
	if len(l.busy) > 0 {
		pace = pendingPace
	}
	pace = max(pace, minPace)
	return align(now, pace).Add(pace)
}

// reconcile makes a worker for each valid job and drops the others. A changed object is rebuilt.
func (l *Loop) reconcile(jobs []Job) {
	wanted := make(map[snapshot.Key]bool, len(jobs))
	for _, t := range jobs {
		if t.Invalid != "" {
			continue
		}
		wanted[t.Key] = true
		l.updateWorker(t)
	}
	for key := range l.workers {
		if !wanted[key] {
			l.workers[key].replaced.Store(true)
			delete(l.workers, key)
		}
	}
}

// updateWorker makes the worker of a job, or replaces it if the job has changed.
func (l *Loop) updateWorker(t Job) {
	before := l.workers[t.Key]
	switch {
	case before == nil:
		l.workers[t.Key] = newWorker(t, l.config)
	case reflect.DeepEqual(before.job, t):
	case l.busy[before] && before.job.Generation == t.Generation:
		// Only the measured lead time or the autoscalers have changed. The running refresh ends soon, but a new worker would have to fetch the
		// whole history again.
	case sameState(before.job, t):
		before.job = t
	default:
		w := newWorker(t, l.config)
		before.replaced.Store(true)
		if !l.busy[before] {
			w.inherit(before)
		}
		l.workers[t.Key] = w
	}
}

// rereadAfterClockSetBack fetches the history again for Forecasts that were queried while the clock was ahead. Until then, the last result
// stays published.
func (l *Loop) rereadAfterClockSetBack(ctx context.Context, now time.Time) {
	restarted := 0
	for key, before := range l.workers {
		if l.busy[before] || !before.clockWasAhead(now) {
			continue
		}
		w := newWorker(before.job, l.config)
		w.result, w.published, w.fallbacks = before.result, before.published, before.fallbacks
		w.diagnosed = before.diagnosed
		l.workers[key] = w
		restarted++
	}
	if restarted > 0 {
		l.log.WarnContext(ctx, "the clock was set back: reading histories again", "forecasts", restarted, "now", now)
	}
}

// sameState reports whether two jobs lead to the same state. They may differ in descriptions, in an alias, in the times at zero replicas,
// in replicas that are starting, in autoscalers that are disabled, in the served record, in the limits of variants, and in a pause.
func sameState(a, b Job) bool {
	a.LeadSource, a.AutoscalerSource, a.Uncalibrated = b.LeadSource, b.AutoscalerSource, b.Uncalibrated
	a.Created, a.Alias, a.Unused = b.Created, b.Alias, b.Unused
	a.LeadPool, a.ScaledToZero, a.Starting, a.Pause, a.Record = b.LeadPool, b.ScaledToZero, b.Starting, b.Pause, b.Record
	a.VariantLimits, a.ReadWhole = b.VariantLimits, b.ReadWhole
	a.NeverZero, a.DisabledAtZero = b.NeverZero, b.DisabledAtZero
	return reflect.DeepEqual(a, b)
}

// start begins a refresh, which owns the worker until it is done. The batches of the step answer its queries if possible.
func (l *Loop) start(ctx context.Context, w *worker, now time.Time, asked batches) {
	l.busy[w] = true
	// The values of other Forecasts do not wait for a fit, which takes a thousand times as long as a step.
	fits := w.forecaster != nil && w.rebuildsAt(w.newestStep(now).Add(w.job.Step))
	w.awaited = w.failures == 0 && !fits
	go func() {
		defer func() { l.done <- w }()
		within, end := l.config.Span(ctx, w.job.Key)
		defer func() { end(w.result.err) }()
		defer l.recoverPanic(w, now)
		block, ok := w.fetch(within, now, batchedSource{slottedSource{l, w}, asked})
		if !ok {
			l.diagnose(within, w, now)
			return
		}
		rebuilds := !w.partial && w.rebuildsAt(block.TimeAt(block.Len()))
		l.fits.run(w.job.Key.Namespace, rebuilds, func() {
			if !w.replaced.Load() { // If the Forecast was replaced, the result is not needed.
				w.appendBlock(block)
			}
		})
		l.diagnose(within, w, now)
		l.computeBackground(ctx, w, now)
	}()
}

// recoverPanic turns a panic in the refresh of one Forecast into an error of that Forecast, because the metrics of the whole cluster must
// not end with it. The state is dropped, and rebuilt from the history with growing pauses.
func (l *Loop) recoverPanic(w *worker, now time.Time) {
	fault := recover()
	if fault == nil {
		return
	}
	l.log.Error("a refresh panicked: please report this", "forecast", w.job.Key.String(),
		"fault", fault, "stack", string(debug.Stack()))
	w.forget()
	w.result = result{attempted: true, err: fmt.Errorf("internal fault: %v", fault)}
	w.scheduleRetry(now)
}

// collect waits for the refreshes of this step, at most for the grace period. It waits only a tenth of that for refreshes that failed
// before, that an earlier step has already waited for, or that fit again, because these must not delay the values of all other Forecasts.
func (l *Loop) collect(ctx context.Context) {
	grace, cancelGrace := context.WithTimeout(ctx, l.config.Grace)
	defer cancelGrace()
	brief, cancelBrief := context.WithTimeout(ctx, l.config.Grace/10)
	defer cancelBrief()
	for len(l.busy) > 0 {
		over := brief.Done()
		for w := range l.busy {
			if w.awaited {
				over = grace.Done()
				break // One is enough. This loop runs after every refresh of a thousand workers.
			}
		}
		select {
		case w := <-l.done:
			l.finish(w)
		case <-over:
			for w := range l.busy {
				w.awaited = false
			}
			return
		}
	}
}

func (l *Loop) drain() {
	for len(l.busy) > 0 {
		delete(l.busy, <-l.done)
	}
	l.background.Wait()
}

// finish takes over the result of a refresh.
func (l *Loop) finish(w *worker) {
	delete(l.busy, w)
	before, partial := w.published.err, w.published.wholeErr
	w.readsWhole = false
	w.published = w.result
	l.stats.Refits += w.refits
	w.refits = 0
	if w.replaced.Load() {
		return
	}
	if w.published.err != nil {
		l.stats.QueryErrors++
	}
	l.logQueryError(w, before)
	if err := w.result.wholeErr; err != nil && (partial == nil || reasonOf(partial) != reasonOf(err)) {
		l.log.Warn("could not read the whole history: serving from its newest part", "forecast", w.job.Key.String(),
			"reason", reasonOf(err), "error", err)
	}
	if err := w.result.rereadErr; err != nil {
		l.log.Warn("could not read the history again: continuing with the known samples",
			"forecast", w.job.Key.String(), "reason", reasonOf(err), "error", err)
		w.result.rereadErr = nil
	}
}

// logQueryError logs an error when it begins, when its reason changes, and when it ends, but not at every step.
func (l *Loop) logQueryError(w *worker, before error) {
	now := w.published.err
	log := l.log.With("forecast", w.job.Key.String())
	switch {
	case now != nil && (before == nil || reasonOf(before) != reasonOf(now)):
		if cause := w.published.cause; cause != "" {
			log = log.With("cause", cause)
		}
		log.Warn("the query failed", "reason", reasonOf(now), "error", now)
	case now == nil && before != nil:
		log.Info("the query succeeds again")
	}
}

// snapshot assembles the entries of all jobs.
func (l *Loop) snapshot(jobs []Job, now time.Time) *snapshot.Snapshot {
	entries := make(map[snapshot.Key]*snapshot.ForecastSnapshot, len(jobs))
	pending := 0
	for _, t := range jobs {
		if t.Invalid != "" {
			entries[t.Key] = invalidEntry(t)
			continue
		}
		w := l.workers[t.Key]
		e := w.published.entryAt(w.job, now)
		l.clocks.explain(e, w.job)
		e.Conditions = w.steady(e.Conditions, now)
		applyZero(e, &t, now)
		applyPause(e, t.Pause) // The pause also applies while a query is in flight.
		if e.State == snapshot.FallingBack {
			w.fallbacks++
		}
		if w.published.waits() {
			pending++
		}
		e.Alias, e.Fallbacks, e.Views = w.job.Alias, w.fallbacks, w.background
		w.noteServed(e, now)
		if len(t.Variants) > 0 {
			shareOut(e, &t)
		}
		entries[t.Key] = e
	}
	return snapshot.New(now, entries, pending, l.stats)
}

// logChanges logs what has changed since the previous snapshot: demand became suspect, another candidate was selected under an objective,
// or the verdict of the objective changed. It does not log changes of an objective that were caused by a change of the object.
func logChanges(ctx context.Context, log *slog.Logger, before, after *snapshot.Snapshot) {
	if before == nil {
		return
	}
	for _, key := range after.Keys() {
		was, is := before.Get(key), after.Get(key)
		logSuspect(ctx, log, was, is)
		if was == nil || was.Partial || was.Objective == nil || is.Objective == nil || was.Generation != is.Generation {
			continue
		}
		for _, c := range is.Objective.ChangesSince(was.Objective.Selection.Selected, was.Objective.Verdict) {
			level := slog.LevelInfo
			if c.Missed {
				level = slog.LevelWarn
			}
			log.Log(ctx, level, "the candidate or the verdict of an objective changed", "forecast", key.String(),
				"reason", c.Reason, "now", c.Message)
		}
	}
}

func logSuspect(ctx context.Context, log *slog.Logger, was, is *snapshot.ForecastSnapshot) {
	words, suspect := is.Suspect()
	already := false
	if was != nil {
		_, already = was.Suspect()
	}
	if suspect && !already {
		log.WarnContext(ctx, "the demand is suspect",
			"forecast", is.Key.String(), "reason", snapshot.ReasonSuspect, "now", words)
	}
}

// applyZero decides with what the forecaster does not know whether a workload may sleep: not while a replica is starting, not while a
// return of the demand is due although the source has no newer samples, and not by the newest hour of the history alone, unless the
// workload is at zero already.
func applyZero(e *snapshot.ForecastSnapshot, t *Job, now time.Time) {
	switch {
	case t.NeverZero != "":
		e.Decision.NeverZero(t.NeverZero)
	case t.Starting, e.IsReturnDue(now), e.Partial && !t.ScaledToZero.At(now):
		e.Decision.KeepAwake()
	}
}

// applyPause replaces the value of an entry that is not published yet. The worker does not know about the pause. It keeps learning, and
// its forecast serves again at the step at which the pause ends.
func applyPause(e *snapshot.ForecastSnapshot, p decide.Pause) {
	if p == (decide.Pause{}) {
		return
	}
	c := snapshot.Condition{
		Type: snapshot.ConditionPaused, True: p.Active(), Reason: reasonAsBefore, Message: p.Message(),
	}
	switch {
	case p.Invalid != "":
		c.Reason = reasonInvalidAnnotation
	case p.Assumed != "":
		c.Reason = reasonBeforeAssumed
	}
	e.Conditions = append(e.Conditions, c)
	if !p.Active() || !e.State.Serves() {
		return
	}
	steps := min(1+int((p.Hold+e.Step-1)/e.Step), len(e.Newest))
	held := series.MaxKnown(e.Newest[len(e.Newest)-steps:]...)
	e.Decision = p.Apply(e.Decision, series.MaxKnown(e.Observed, held))
	e.Settings.Mode = decide.Shadow // This way, the comparison shows what Forewarm would have served.
}

// shareOut splits the value of an entry among its variants.
func shareOut(e *snapshot.ForecastSnapshot, t *Job) {
	if !e.State.Serves() || e.Plan == nil {
		return
	}
	e.Parts = e.Plan.Share(e.Decision.Value)
	if c := variantsCondition(e, t); c.Reason != "" {
		e.Conditions = append(e.Conditions, c)
	}
}
