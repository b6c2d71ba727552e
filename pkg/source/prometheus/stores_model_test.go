package prometheus_test

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/value"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/storetest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// victoriaRate is sum(rate(NAME[window])) by the definition of VictoriaMetrics (rollupDerivFast in its
// app/vmselect/promql/rollup.go, v1.102.0): the difference of the window's last sample and the one before the window,
// over their distance. It extrapolates nothing. Prometheus takes the window's own samples, and extrapolates to its ends.
type victoriaRate struct {
	samples []storetest.Series
	name    string
	window  time.Duration
	// staleness is -search.minStalenessInterval.
	staleness time.Duration
}

// Fetch evaluates it on the grid of a query.
func (v victoriaRate) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		out.Values[i] = math.NaN()
	}
	for _, s := range v.samples {
		if s.Labels["__name__"] != v.name {
			continue
		}
		counter := withoutResets(s.Samples)
		before := max(longestInterval(counter), v.staleness.Milliseconds())
		for i := range out.Values {
			rate := victoriaRateAt(counter, before, v.window.Milliseconds(), out.TimeAt(i).UnixMilli())
			switch {
			case math.IsNaN(rate):
			case math.IsNaN(out.Values[i]):
				out.Values[i] = rate
			default:
				out.Values[i] += rate
			}
		}
	}
	return out, nil
}

// victoriaRateAt is the rate in the window (at-window, at]. The sample before the window counts if it is younger than
// before, and if the series goes on after it.
func victoriaRateAt(counter []storetest.Sample, before, window, at int64) float64 {
	after := func(t int64) int {
		return sort.Search(len(counter), func(i int) bool { return counter[i].At > t })
	}
	first, end := after(at-window), after(at)
	in := counter[first:end]
	hasPrevious := first > 0 && first < len(counter) && counter[first-1].At > at-window-before
	switch {
	case hasPrevious && len(in) == 0:
		return 0
	case !hasPrevious && len(in) < 2:
		return math.NaN()
	}
	from := in[0]
	if hasPrevious {
		from = counter[first-1]
	}
	last := in[len(in)-1]
	return (last.Value - from.Value) / (float64(last.At-from.At) / 1000)
}

// withoutResets adds what a counter had before each reset, and drops the staleness markers.
func withoutResets(samples []storetest.Sample) []storetest.Sample {
	var out []storetest.Sample
	previous, total := 0.0, 0.0
	for _, s := range samples {
		if value.IsStaleNaN(s.Value) {
			continue
		}
		if s.Value < previous {
			total += previous
		}
		previous = s.Value
		out = append(out, storetest.Sample{At: s.At, Value: s.Value + total})
	}
	return out
}

// longestInterval is how old the sample before a window may be: 1.5 of the usual interval at intervals of 8 to 16 s, 1.25
// of it to 32 s. The usual interval is the 60 % quantile of the first twenty.
func longestInterval(samples []storetest.Sample) int64 {
	const first = 20
	var intervals []float64
	for i := range min(first, len(samples)-1) {
		intervals = append(intervals, float64(samples[i+1].At-samples[i].At))
	}
	slices.Sort(intervals)
	rank := 0.6 * float64(len(intervals)-1)
	low := int(rank)
	weight := rank - float64(low)
	usual := int64(intervals[low]*(1-weight) + intervals[min(low+1, len(intervals)-1)]*weight)
	if usual <= 16_000 {
		return usual + usual/2
	}
	return usual + usual/4
}
