package quantreg

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// Rows are observations: row i has the regressors X[i·width … (i+1)·width), with width = len(X)/len(Y), and the target
// Y[i]. There is no intercept but a column of ones, if one is wanted.
type Rows struct {
	X, Y []float64
	// Weights say how much a row counts, 0 or more; nil means 1 each.
	Weights []float64
}

// Width is the number of regressors, 0 without rows.
func (r Rows) Width() int {
	if len(r.Y) == 0 {
		return 0
	}
	return len(r.X) / len(r.Y)
}

// row is the regressors of row i.
func (r Rows) row(i, width int) []float64 { return r.X[i*width : (i+1)*width : (i+1)*width] }

func (r Rows) weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return r.Weights[i]
}

// check reports rows of different lengths (forecast.ErrParameter), no rows that count (forecast.ErrTooShort) or numbers
// that are none (forecast.ErrNotFinite).
func (r Rows) check() error {
	width := r.Width()
	switch {
	case len(r.Y) == 0:
		return fmt.Errorf("no rows: %w", forecast.ErrTooShort)
	case width == 0 || width*len(r.Y) != len(r.X) || r.Weights != nil && len(r.Weights) != len(r.Y):
		return fmt.Errorf(
			"%d targets, %d regressors, %d weights: want as many regressors in each row, and one weight: %w",
			len(r.Y),
			len(r.X),
			len(r.Weights),
			forecast.ErrParameter,
		)
	}
	total := 0.0
	for i := range r.Y {
		w := r.weight(i)
		if !(w >= 0 && w <= mostMagnitude) {
			return fmt.Errorf("weight %d is %v, want 0 to %g: %w", i, w, mostMagnitude, forecast.ErrParameter)
		}
		total += w
	}
	for _, numbers := range [][]float64{r.X, r.Y} {
		for i, v := range numbers {
			if !(math.Abs(v) <= mostMagnitude) {
				return fmt.Errorf("number %d is %v, want at most %g: %w", i, v, mostMagnitude, forecast.ErrNotFinite)
			}
		}
	}
	if total == 0 {
		return fmt.Errorf("all weights are 0: %w", forecast.ErrTooShort)
	}
	return nil
}

// mostMagnitude of a number: sums of products of two of them, weighted, stay finite.
const mostMagnitude = 1e60

// meanMagnitude is the weighted mean of |Y|.
func (r Rows) meanMagnitude() float64 {
	sum, total := 0.0, 0.0
	for i, y := range r.Y {
		w := r.weight(i)
		sum += w * math.Abs(y)
		total += w
	}
	return sum / total
}
