package prometheus_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/value"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// victoriaRate is sum(rate(NAME[window])) by the definition of VictoriaMetrics (rollupDerivFast in its
// app/vmselect/promql/rollup.go, v1.102.0): the difference of the window's last sample and the one before the window,
// over their distance. It extrapolates nothing. Prometheus takes the window's own samples, and extrapolates to its ends.
type victoriaRate struct {
	samples []Series
	name    string
	window  time.Duration
	// staleness is -search.minStalenessInterval.
	staleness time.Duration
}

// Fetch evaluates it on the grid of a query.
func (v victoriaRate) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	out := q.Gaps()
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
func victoriaRateAt(counter []Sample, before, window, at int64) float64 {
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
func withoutResets(samples []Sample) []Sample {
	var out []Sample
	previous, total := 0.0, 0.0
	for _, s := range samples {
		if value.IsStaleNaN(s.Value) {
			continue
		}
		if s.Value < previous {
			total += previous
		}
		previous = s.Value
		out = append(out, Sample{At: s.At, Value: s.Value + total})
	}
	return out
}

// longestInterval is how old the sample before a window may be: 1.5 of the usual interval at intervals of 8 to 16 s, 1.25
// of it to 32 s. The usual interval is the 60 % quantile of the first twenty.
func longestInterval(samples []Sample) int64 {
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

// comparison is how a store's values differ from the reference's, point by point.
type comparison struct {
	points, equal int
	// rounded are points that differ by rounding only.
	rounded int
	// gaps are points where only the store has no value, extra those where only the reference has none.
	gaps, extra int
	// differ are points with two values that differ by more; lower those of them where the store's is below.
	differ, lower int
	// relative is the largest difference of two values over the larger one. lowest and highest are the smallest and the
	// largest value as a multiple of the reference's.
	relative, lowest, highest float64
}

// rounding is what the order of a sum and VictoriaMetrics' decimal notation change: 1e-12 was measured.
const rounding = 1e-11

func compare(want, got forecast.Series) *comparison {
	c := &comparison{points: want.Len(), lowest: 1, highest: 1}
	for i, w := range want.Values {
		g := got.Values[i]
		switch {
		case math.Float64bits(w) == math.Float64bits(g) || math.IsNaN(w) && math.IsNaN(g):
			c.equal++
		case math.IsNaN(g):
			c.gaps++
		case math.IsNaN(w):
			c.extra++
		default:
			c.add(w, g)
		}
	}
	return c
}

// add counts a point with two values that are not the same.
func (c *comparison) add(want, got float64) {
	relative := math.Abs(want-got) / max(math.Abs(want), math.Abs(got))
	c.relative = max(c.relative, relative)
	if relative <= rounding {
		c.rounded++
		return
	}
	c.differ++
	c.lowest, c.highest = min(c.lowest, got/want), max(c.highest, got/want)
	if got < want {
		c.lower++
	}
}

// String is a cell of the table.
func (c *comparison) String() string {
	switch {
	case c.equal == c.points:
		return "equal"
	case c.gaps+c.extra == 0 && c.relative <= rounding:
		return fmt.Sprintf("equal to %.0e", c.relative)
	}
	var parts []string
	if c.differ > 0 {
		parts = append(parts, fmt.Sprintf("%d differ, × %.3g to %.3g", c.differ, c.lowest, c.highest))
	}
	if c.extra > 0 {
		parts = append(parts, fmt.Sprintf("%d more", c.extra))
	}
	if c.gaps > 0 {
		parts = append(parts, fmt.Sprintf("%d missing", c.gaps))
	}
	return strings.Join(parts, ", ")
}

// difference is how far a store may be from the reference, and why. The zero value is bit-equal.
type difference struct {
	why string
	// from and to bound the store's values as multiples of the reference's; 0 is 1.
	from, to float64
	// differ, lower and extra are the most points of each kind. No point may be missing.
	differ, lower, extra int
	// rounds allows what rounding changes; so does every point that may differ.
	rounds bool
	// exactly is what the store evaluates instead. It is within rounding of the store's values.
	exactly fetcher
}

// check fails the test for each bound that a comparison exceeds.
func (d difference) check(t *testing.T, c *comparison) {
	t.Helper()
	const room = 0.005 // The bounds are written with three digits.
	if c.gaps > 0 {
		t.Errorf("%d of %d points are missing", c.gaps, c.points)
	}
	if c.differ > d.differ || c.lower > d.lower || c.extra > d.extra {
		t.Errorf("%d points differ, %d are lower and %d are more, want at most %d, %d and %d",
			c.differ, c.lower, c.extra, d.differ, d.lower, d.extra)
	}
	if c.rounded > 0 && !d.rounds && d.differ == 0 {
		t.Errorf("%d points differ by %.1e, want the same bits", c.rounded, c.relative)
	}
	from, to := cmp.Or(d.from, 1), cmp.Or(d.to, 1)
	if c.lowest < from*(1-room) || c.highest > to*(1+room) {
		t.Errorf("the values are %.3g to %.3g times the reference's, want %.3g to %.3g", c.lowest, c.highest, from, to)
	}
}
