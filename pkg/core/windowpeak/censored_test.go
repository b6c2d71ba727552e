package windowpeak //nolint:testpackage // The regression is internal.

import (
	"testing"
)

// held plays days of which the last are seen up to a capacity only, and gives the mean 95 % quantile on the last day while
// the capacity hides the demand; told says whether the learner knows.
func held(t *testing.T, seen, hidden int, capacity float64, told bool) (l *pooledRegression, upper float64) {
	t.Helper()
	c := config()
	prior, err := BuiltinPrior(c.Window)
	if err != nil {
		t.Fatal(err)
	}
	l = newPooledRegression(c, prior)
	n := 0.0
	for i, v := range days(seen+hidden, 8) {
		if i%360 == 0 {
			l.fit()
		}
		isHidden := i >= seen*1440 && v >= capacity
		switch {
		case !isHidden:
			l.observe(v, nil)
		case told:
			l.observeCensored(capacity, nil)
		default:
			l.observe(capacity, nil)
		}
		if isHidden && i >= (seen+hidden-1)*1440 {
			w := l.forecast()
			upper += w.Median + w.Spread
			n++
		}
	}
	return l, upper / n
}

// What is hidden is not taken for a window that came to the capacity and no further. (What is expected in the plateau stays
// near what is seen: most of what is known of a moment is the demand then.)
func TestAPlateauIsNotLearnt(t *testing.T) {
	const capacity = 130 // Of a demand of 160 and its noise.
	repaired, told := held(t, 4, 2, capacity, true)
	taken, untold := held(t, 4, 2, capacity, false)
	t.Logf(
		"in the plateau q95 of the window peak is %.1f in the mean where it is known, %.1f else; of %d and %d windows",
		told,
		untold,
		repaired.rows.n,
		taken.rows.n,
	)
	if told-capacity < 1.5*(untold-capacity) || repaired.rows.n >= taken.rows.n {
		t.Errorf("q95 %.1f, %.1f untold; %d and %d windows", told, untold, repaired.rows.n, taken.rows.n)
	}
}

// A bound that is above what was forecast is evidence: a service that is short for good is not forgotten.
func TestABoundAboveTheForecastIsLearnt(t *testing.T) {
	c := config()
	l := newPooledRegression(c, naively(c))
	for range 1440 {
		l.observe(10, nil)
	}
	before := l.rows.n
	for range 60 {
		l.observeCensored(100, nil)
	}
	// The rows of the last minutes before the rise; later ones expect no less than what is seen.
	if n := l.rows.n - before; n < 1 || n > 20 {
		t.Errorf("%d rows of %d bounds", n, 60)
	}
	if l.features.exact() {
		t.Error("the maximum of a window of bounds is exact")
	}
	for range 6 {
		l.observe(10, nil)
	}
	if !l.features.exact() {
		t.Error("a window after the bounds is not exact")
	}
}

// without a bound nothing changes; with one, what is told does not depend on the unit.
func TestBoundsHaveNoUnit(t *testing.T) {
	c := config()
	plain, doubled := newPooledRegression(c, naively(c)), newPooledRegression(c, naively(c))
	for i, v := range days(3, 9) {
		if i%360 == 0 {
			plain.fit()
			doubled.fit()
		}
		if v > 120 {
			plain.observeCensored(120, nil)
			doubled.observeCensored(240, nil)
		} else {
			plain.observe(v, nil)
			doubled.observe(2*v, nil)
		}
		if a, b := plain.forecast(), doubled.forecast(); b.Median != 2*a.Median || b.Spread != 2*a.Spread {
			t.Fatalf("step %d: %+v and twice that is %+v", i, a, b)
		}
	}
}
