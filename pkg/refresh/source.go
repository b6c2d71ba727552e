package refresh

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Source fetches the history of a query.
type Source interface {
	// Fetch evaluates the query at From, From + Step, … up to and including To. Values[i] of the answer belongs to
	// From + i·Step; where the source has no sample the value is NaN. The answer is one series; errors wrap the
	// sentinels of package series. Fetch splits ranges that are too long for one request.
	Fetch(ctx context.Context, q Query) (forecast.Series, error)
}

// LabelSource is a Source that also tells series apart by a label.
type LabelSource interface {
	Source
	// FetchByLabel evaluates the query at To, and returns the value of each series by its label. Errors are those of Fetch, but no series
	// are no error.
	FetchByLabel(ctx context.Context, q Query, label string) (map[string]float64, error)
}

// Query is one range of one Forecast's demand.
type Query struct {
	// Namespace of the Forecast, for limits and log lines. The expression is already confined to it.
	Namespace string
	// Source to ask; the zero value where there is only one.
	Source SourceRef
	// Expr is PromQL that yields one series.
	Expr string
	// From and To are multiples of Step since the epoch, From ≤ To.
	From, To time.Time
	Step     time.Duration
}

// SourceRef names a source of history that the operator granted to a namespace.
type SourceRef struct {
	Name string
	// Revision changes with the configuration of the source: what was read before may be of another store.
	Revision string
}

// timeoutSource gives each query a timeout that grows with its range.
type timeoutSource struct {
	source  Source
	timeout time.Duration
}

// pointsPerTimeout is the range that one timeout covers; one request to Prometheus returns at most 11,000 points.
const pointsPerTimeout = 10_000

func (b timeoutSource) Fetch(ctx context.Context, q Query) (forecast.Series, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout*time.Duration(1+q.Points()/pointsPerTimeout))
	defer cancel()
	return b.source.Fetch(ctx, q)
}

// Points is the number of steps that the query covers.
func (q Query) Points() int { return int(q.To.Sub(q.From)/q.Step) + 1 }

// Gaps is a series on the query's grid without a sample.
func (q Query) Gaps() forecast.Series {
	return forecast.Series{Start: q.From, Step: q.Step, Values: slices.Repeat([]float64{math.NaN()}, q.Points())}
}
