package prometheus_test

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/storetest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// ofPrometheus3 is the engine of Prometheus 3 in this process, on the same samples: what stores are compared with. Its
// range selectors and its lookback exclude a sample at their very beginning, which those of Prometheus 2 include.
type ofPrometheus3 struct {
	engine *promql.Engine
	db     *tsdb.DB
}

func startPrometheus3(t *testing.T, all []storetest.Series, lookback time.Duration) ofPrometheus3 {
	t.Helper()
	options := tsdb.DefaultOptions()
	options.RetentionDuration = 0
	db, err := tsdb.Open(t.TempDir(), slog.New(slog.DiscardHandler), nil, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.Append(t, db.Appender, all)
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: lookback,
	})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return ofPrometheus3{engine: engine, db: db}
}

// Fetch evaluates a query on its grid.
func (o ofPrometheus3) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		out.Values[i] = math.NaN()
	}
	query, err := o.engine.NewRangeQuery(ctx, o.db, nil, q.Expr, q.From, q.To, q.Step)
	if err != nil {
		return out, err
	}
	defer query.Close()
	matrix, err := query.Exec(ctx).Matrix()
	if err != nil {
		return out, err
	}
	for _, s := range matrix {
		for _, point := range s.Floats {
			out.Values[(point.T-q.From.UnixMilli())/q.Step.Milliseconds()] = point.F
		}
	}
	return out, nil
}
