package refresh

import (
	"context"
	"errors"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// Diagnosis finds out why a query has no series.
type Diagnosis interface {
	// Explain says what was found instead, and what to do. ask evaluates an expression at the newest step, and returns the value of each
	// series by a label. The error is that of ask.
	Explain(ask func(expr, label string) (map[string]float64, error)) (string, error)
}

// diagnosisInterval is how often it is found out why a Forecast has no value.
const diagnosisInterval = 5 * time.Minute

// diagnose finds out why a Forecast without a value has no samples, if it is time to. Forecasts with a value cost no query.
func (l *Loop) diagnose(ctx context.Context, w *worker, now time.Time) {
	_, ok := l.source.(LabelSource)
	r := &w.result
	hasValue := r.entry != nil && now.Sub(r.entry.SampleTime) < w.job.StaleAfter
	switch {
	case !ok || w.job.Diagnosis == nil || hasValue || r.newestDropped.Any():
		r.cause = ""
		return
	case r.err != nil && !errors.Is(r.err, series.ErrNoSeries): // The source does not answer; what is known of its series stays.
		return
	case now.Sub(w.diagnosed).Abs() < diagnosisInterval: // The clock may have been set back.
		return
	}
	w.diagnosed = now
	q := w.nextQuery(now)
	q.From = q.To
	cause, err := w.job.Diagnosis.Explain(func(expr, label string) (map[string]float64, error) {
		of := q
		of.Expr = expr
		return slottedSource{l, w}.FetchByLabel(ctx, of, label)
	})
	if r.cause = cause; err != nil {
		l.log.DebugContext(ctx, "it is not known why there is no series", "forecast", w.job.Key.String(), "error", err)
	}
}
