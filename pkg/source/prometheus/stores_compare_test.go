package prometheus_test

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/forecast"
)

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
