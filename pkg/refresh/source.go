package refresh

import (
	"context"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Source reads the history of a query from the outside world.
type Source interface {
	// Fetch evaluates the query at From, From + Step, … up to and including To. Values[i] of the answer belongs to
	// From + i·Step; where the source has no sample the value is NaN. The answer is one series; errors wrap the
	// sentinels of package series. Fetch splits ranges that are too long for one request.
	Fetch(ctx context.Context, q Query) (forecast.Series, error)
}

// Query is one range of one Forecast's demand.
type Query struct {
	// Namespace of the Forecast that asks, for limits and log lines. The expression is confined to it already.
	Namespace string
	// Expr is PromQL that yields one series.
	Expr string
	// From and To are multiples of Step since the epoch, From ≤ To.
	From, To time.Time
	Step     time.Duration
}

// bounded gives a query a time that grows with its range.
type bounded struct {
	source  Source
	timeout time.Duration
}

// piece is the range that a query of one timeout may cover; Prometheus answers 11,000 points at most at a time.
const piece = 10_000

func (b bounded) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout*time.Duration(1+q.Points()/piece))
	defer cancel()
	return b.source.Fetch(ctx, q)
}

// Points is the number of steps that the query covers.
func (q Query) Points() int { return int(q.To.Sub(q.From)/q.Step) + 1 }
