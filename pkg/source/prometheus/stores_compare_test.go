package prometheus_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast"
)

// comparison is how a store's values differ from the reference's, point by point.
type comparison struct {
	points, equal int
	// gaps are points where only the store has no value, extra those where only the reference has none.
	gaps, extra int
	// differ are points with two values; lower those of them where the store's is below by more than rounding.
	differ, lower int
	// relative is the largest difference of two values over the larger one, lowest the smallest share of the reference.
	relative, lowest float64
}

// rounding is what the order of a sum and VictoriaMetrics' decimal notation change: 1e-12 was measured.
const rounding = 1e-11

func compare(want, got forecast.Series) comparison {
	c := comparison{points: want.Len(), lowest: 1}
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
			c.differ++
			relative := math.Abs(w-g) / max(math.Abs(w), math.Abs(g))
			c.relative = max(c.relative, relative)
			if g < w && relative > rounding {
				c.lower++
				c.lowest = min(c.lowest, g/w)
			}
		}
	}
	return c
}

// String is a cell of the table.
func (c comparison) String() string {
	switch {
	case c.equal == c.points:
		return "equal"
	case c.gaps+c.extra == 0 && c.relative <= rounding:
		return fmt.Sprintf("equal to %.0e", c.relative)
	}
	text := fmt.Sprintf("%d differ", c.differ)
	if c.differ > 0 {
		text += fmt.Sprintf(" by %.3g %% at most", 100*c.relative)
	}
	if c.lower > 0 {
		text += fmt.Sprintf(", %d lower by %.3g %% at most", c.lower, 100*(1-c.lowest))
	}
	if c.extra > 0 {
		text += fmt.Sprintf(", %d more", c.extra)
	}
	if c.gaps > 0 {
		text += fmt.Sprintf(", %d missing", c.gaps)
	}
	return text
}

// difference is how far a store may be from the reference, and why. The zero value is bit-equal.
type difference struct {
	why string
	// relative and low bound the difference, and how far the store is below, as shares of the larger and the
	// reference's value.
	relative, low float64
	// differ, lower and extra are the most points of each kind. No point may be missing.
	differ, lower, extra int
	// exactly is what the store evaluates instead. It is within rounding of the store's values.
	exactly fetcher
}

// check fails the test for each bound that a comparison exceeds.
func (d difference) check(t *testing.T, c comparison) {
	t.Helper()
	const room = 1.005 // The bounds are written with three digits.
	if c.gaps > 0 {
		t.Errorf("%d of %d points are missing", c.gaps, c.points)
	}
	if c.differ > d.differ || c.lower > d.lower || c.extra > d.extra {
		t.Errorf("%d points differ, %d are lower and %d are more, want at most %d, %d and %d",
			c.differ, c.lower, c.extra, d.differ, d.lower, d.extra)
	}
	if c.relative > d.relative*room || 1-c.lowest > d.low*room {
		t.Errorf("the largest difference is %.3g %%, the lowest value %.3g %% below, want at most %.3g %% and %.3g %%",
			100*c.relative, 100*(1-c.lowest), 100*d.relative, 100*d.low)
	}
}
