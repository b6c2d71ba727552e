package refresh

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

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
		Namespace: w.job.Key.Namespace, Source: w.job.Source, Expr: w.job.Ready, Step: race.Step,
		From: race.Start, To: race.Start.Add(time.Duration(len(race.Intervals)-1) * race.Step),
	}
}

// fetchReady answers a readyQuery; empty without an answer.
func (l *Loop) fetchReady(ctx context.Context, t *Job, q Query) forecast.Series {
	if q.Expr == "" {
		return forecast.Series{}
	}
	release, err := l.slots.acquire(ctx, q.Namespace, q.Source.Name)
	if err != nil {
		return forecast.Series{}
	}
	defer release()
	l.queries.Add(1)
	ready, err := fetchOnGrid(ctx, timeoutSource{l.source, l.config.Timeout}, q)
	if err != nil {
		l.log.DebugContext(ctx, "ready replicas are not known", "forecast", t.Key.String(), "error", err)
		return forecast.Series{}
	}
	return ready
}
