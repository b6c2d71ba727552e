package quantreg

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Prior is what is known of the coefficients before any row is seen: a Gaussian density. It is in the unit of the rows:
// where series of different sizes share one, divide each by its level first.
type Prior struct {
	// Mean are the coefficients that the fit is drawn to.
	Mean []float64
	// Precision is how strongly: a symmetric matrix, line by line, width × width. Regression.Precision measures it on other
	// data, for each row of theirs; times n, it counts as much as n such rows.
	Precision []float64
}

// Times is the prior with its precision multiplied: the number of rows that it is to count for.
func (p *Prior) Times(n float64) *Prior {
	out := &Prior{Mean: slices.Clone(p.Mean), Precision: slices.Clone(p.Precision)}
	for i := range out.Precision {
		out.Precision[i] *= n
	}
	return out
}

func (p *Prior) check(width int) error {
	if p == nil {
		return nil
	}
	if len(p.Mean) != width || len(p.Precision) != width*width {
		return fmt.Errorf("prior of %d means and %d precisions, want %d and %d: %w",
			len(p.Mean), len(p.Precision), width, width*width, forecast.ErrParameter)
	}
	for _, numbers := range [][]float64{p.Mean, p.Precision} {
		for i, v := range numbers {
			if !(math.Abs(v) <= mostMagnitude) {
				return fmt.Errorf("number %d of the prior is %v: %w", i, v, forecast.ErrNotFinite)
			}
		}
	}
	return nil
}

// mean is that of coefficient j.
func (p *Prior) mean(j int) float64 {
	if p == nil {
		return 0
	}
	return p.Mean[j]
}

// addTo adds the prior to the normal equations.
func (p *Prior) addTo(e *equations) {
	if p == nil {
		return
	}
	width := len(p.Mean)
	for i := range width {
		for j := range width {
			precision := p.Precision[i*width+j]
			e.right[i] += precision * p.Mean[j]
			if j <= i {
				e.moments[i*width+j] += precision
			}
		}
	}
}

// loss is the prior's share in what is minimised.
func (p *Prior) loss(c Coefficients) float64 {
	if p == nil {
		return 0
	}
	sum := 0.0
	for i := range c {
		for j := range c {
			sum += (c[i] - p.Mean[i]) * p.Precision[i*len(c)+j] * (c[j] - p.Mean[j])
		}
	}
	return sum / 2
}
