package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Loop keeps the board up to date. Step and Run are not to be called at once.
type Loop struct {
	config  Config
	source  Source
	targets Targets
	board   *snapshot.Board
	log     *slog.Logger

	workers map[snapshot.Key]*worker
	busy    map[*worker]bool
	done    chan *worker
	slots   slots
	stats   snapshot.LoopStats
}

// New makes a loop; the configuration's zero fields get their defaults, its errors are returned all at once.
func New(config Config, source Source, targets Targets, board *snapshot.Board, log *slog.Logger) (*Loop, error) {
	config = config.WithDefaults()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Loop{
		config: config, source: source, targets: targets, board: board, log: log,
		workers: make(map[snapshot.Key]*worker), busy: make(map[*worker]bool), done: make(chan *worker),
		slots: newSlots(config.Concurrency, config.PerNamespace),
	}, nil
}

// Step asks for what is new at a time, publishes a snapshot and returns it. Queries that outlast the grace go on under
// ctx; their Forecasts are published as they were, and the next step takes what came.
func (l *Loop) Step(ctx context.Context, now time.Time) *snapshot.Snapshot {
	targets := l.targets.Targets(now)
	l.reconcile(targets)
	l.heedClock(ctx, now)
	for _, w := range l.workers {
		if !l.busy[w] && w.due(now) {
			l.start(ctx, w, now)
		}
	}
	l.collect(ctx)
	l.stats.Steps++
	s := l.snapshot(targets, now)
	tell(ctx, l.log, l.board.Load(), s)
	l.board.Publish(s)
	return s
}

// Run steps at every multiple of the smallest step until the context ends, then waits for the queries under way.
func (l *Loop) Run(ctx context.Context, clock Clock) error {
	defer l.drain()
	for {
		begun := clock.Now()
		l.Step(ctx, begun)
		now := clock.Now()
		l.stats.StepSeconds = now.Sub(begun).Seconds()
		if clock.WaitUntil(ctx, l.wake(now)) != nil {
			return nil // The context ended: that is how Run ends.
		}
	}
}

// The pace of Run: at the smallest step of all Forecasts, within these bounds.
const (
	fastest = time.Second
	slowest = 15 * time.Second
	// pending is the pace while a history is being read, so that progress shows.
	pendingPace = time.Second
)

func (l *Loop) wake(now time.Time) time.Time {
	pace := slowest
	for _, w := range l.workers {
		pace = min(pace, w.target.Step)
	}
	if len(l.busy) > 0 {
		pace = pendingPace
	}
	pace = max(pace, fastest)
	return align(now, pace).Add(pace)
}

// reconcile makes a worker for each valid target and forgets those of others; a changed object begins anew.
func (l *Loop) reconcile(targets []Target) {
	wanted := make(map[snapshot.Key]bool, len(targets))
	for _, t := range targets {
		if t.Invalid != "" {
			continue
		}
		wanted[t.Key] = true
		l.renew(t)
	}
	for key := range l.workers {
		if !wanted[key] {
			delete(l.workers, key)
		}
	}
}

// renew makes the worker of a target, or changes it where the target has changed.
func (l *Loop) renew(t Target) {
	before := l.workers[t.Key]
	switch {
	case before == nil:
		l.workers[t.Key] = newWorker(t, l.config)
	case reflect.DeepEqual(before.target, t):
	case l.busy[before] && before.target.Generation == t.Generation:
		// The object is the same, its measured lead time or its autoscalers are not. The job under way ends soon; a worker
		// made now would have to read the whole history again.
	case same(before.target, t):
		before.target = t
	default:
		w := newWorker(t, l.config)
		if !l.busy[before] {
			w.inherit(before)
		}
		l.workers[t.Key] = w
	}
}

// heedClock has the history read again of what was asked for with a clock that was ahead. What was shown is shown until then.
func (l *Loop) heedClock(ctx context.Context, now time.Time) {
	anew := 0
	for key, before := range l.workers {
		if l.busy[before] || !before.outran(now) {
			continue
		}
		w := newWorker(before.target, l.config)
		w.found, w.shown, w.fallbacks = before.found, before.shown, before.fallbacks
		l.workers[key] = w
		anew++
	}
	if anew > 0 {
		l.log.WarnContext(ctx, "the clock was set back: histories are read again", "forecasts", anew, "now", now)
	}
}

// same says whether two targets lead to the same state: they differ in words and in what is to come at most.
func same(a, b Target) bool {
	a.LeadSource, a.ScalingSource, a.Uncalibrated = b.LeadSource, b.ScalingSource, b.Uncalibrated
	a.LeadPool, a.AtZero = b.LeadPool, b.AtZero
	return reflect.DeepEqual(a, b)
}

// start runs a job; it owns the worker until it is done.
func (l *Loop) start(ctx context.Context, w *worker, now time.Time) {
	l.busy[w] = true
	l.stats.Queries++
	go func() {
		defer func() { l.done <- w }()
		release, err := l.slots.acquire(ctx, w.target.Key.Namespace)
		if err != nil {
			return
		}
		defer release()
		defer l.contain(w, now)
		w.advance(ctx, now, bounded{l.source, l.config.Timeout})
	}()
}

// contain makes a panic in one Forecast's job that Forecast's error: it must not take the metrics of a whole cluster with
// it. The state that panicked is dropped, and built anew from the history with growing pauses.
func (l *Loop) contain(w *worker, now time.Time) {
	fault := recover()
	if fault == nil {
		return
	}
	l.log.Error("a refresh panicked; please report this", "forecast", w.target.Key.String(),
		"fault", fault, "stack", string(debug.Stack()))
	w.store, w.limits, w.forecaster, w.fetched = nil, nil, nil, time.Time{}
	w.found = view{attempted: true, err: fmt.Errorf("internal fault: %v", fault)}
	w.fail(now)
}

// collect waits for the jobs under way, no longer than the grace.
func (l *Loop) collect(ctx context.Context) {
	grace, cancel := context.WithTimeout(ctx, l.config.Grace)
	defer cancel()
	for len(l.busy) > 0 {
		select {
		case w := <-l.done:
			l.finish(w)
		case <-grace.Done():
			return
		}
	}
}

func (l *Loop) drain() {
	for len(l.busy) > 0 {
		l.finish(<-l.done)
	}
}

// finish takes what a job found.
func (l *Loop) finish(w *worker) {
	delete(l.busy, w)
	before := w.shown.err
	w.shown = w.found
	l.stats.Rebuilds += w.rebuilds
	w.rebuilds = 0
	if w.shown.err != nil {
		l.stats.QueryErrors++
	}
	l.report(w, before)
}

// report logs a fault when it begins or changes its kind, and when it ends: not at every step.
func (l *Loop) report(w *worker, before error) {
	now := w.shown.err
	log := l.log.With("forecast", w.target.Key.String())
	switch {
	case now != nil && (before == nil || reasonOf(before) != reasonOf(now)):
		log.Warn("query failed", "reason", reasonOf(now), "error", now)
	case now == nil && before != nil:
		log.Info("query answered again")
	}
}

// snapshot puts the entries of all targets together.
func (l *Loop) snapshot(targets []Target, now time.Time) *snapshot.Snapshot {
	entries := make(map[snapshot.Key]*snapshot.Entry, len(targets))
	pending := 0
	for _, t := range targets {
		if t.Invalid != "" {
			entries[t.Key] = invalid(t)
			continue
		}
		w := l.workers[t.Key]
		e := w.shown.at(w.target, now)
		if e.State == snapshot.FallingBack {
			w.fallbacks++
		}
		if !w.shown.attempted {
			pending++
		}
		e.Fallbacks = w.fallbacks
		entries[t.Key] = e
	}
	return snapshot.New(now, entries, pending, l.stats)
}
