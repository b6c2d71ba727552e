package numeric

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// Limit is the largest magnitude that counts as an observation. Its square and a million times that are finite, so no
// sum of squares and no difference overflows.
const Limit = 1e150

// Observed reports whether y is an observation: finite and within Limit. Everything else is treated as missing by an
// Update, which cannot return an error.
func Observed(y float64) bool { return math.Abs(y) <= Limit }

// Check is Series.Check with the magnitude added: a value beyond Limit is not finite for any model.
func Check(s forecast.Series, want int) error {
	if err := s.Check(want); err != nil {
		return err
	}
	for i, v := range s.Values {
		if math.Abs(v) > Limit {
			return fmt.Errorf("series: value %d is %g, beyond the limit of %g: %w", i, v, Limit, forecast.ErrNotFinite)
		}
	}
	return nil
}

// Scale is the power of two just above the largest magnitude in values, or 1 where all are zero or missing. Division by
// a power of two is exact, so a model that works on values/Scale loses nothing.
func Scale(values []float64) float64 {
	largest := 0.0
	for _, v := range values {
		if a := math.Abs(v); a > largest {
			largest = a
		}
	}
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, max(exponent, -1022))
}

// First is the index of the first observation, or len(values) where there is none.
func First(values []float64) int {
	for i, v := range values {
		if !math.IsNaN(v) {
			return i
		}
	}
	return len(values)
}

// Magnitude is the mean of the values' magnitudes.
func Magnitude(values []float64) float64 {
	mean, n := 0.0, 0.0
	for _, y := range values {
		if !math.IsNaN(y) {
			n++
			mean += (math.Abs(y) - mean) / n
		}
	}
	return mean
}
