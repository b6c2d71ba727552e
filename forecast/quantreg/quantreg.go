// Package quantreg fits linear quantile regressions (Koenker & Bassett 1978, "Regression quantiles"): a weighted sum of
// regressors that a share p of the targets does not exceed. At p = 1/2 it is the regression of least absolute errors.
//
//	upper := quantreg.Regression{Level: 0.95}
//	c, err := upper.Fit(quantreg.Rows{X: x, Y: y}) // x is row after row, a few columns each
//	…
//	q := c.At(row)
//
// The loss is minimised by iteratively reweighted least squares, with weights p/|r| for a residual r above the plane
// and (1−p)/|r| below it (Schlossmacher 1973 for the median; Schnabel & Eilers 2013 for any quantile). Unlike the exact
// linear programme it rounds off the loss below an epsilon. In return each pass is one sum of outer products; weights
// of rows, a ridge and a Gaussian prior from other data fit into the same equations; and few passes from a good start
// are enough.
package quantreg

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Regression is a linear quantile regression before it has seen rows.
type Regression struct {
	// Level is the share p of the targets that is to lie below the plane, 0 < p < 1.
	Level float64
	// Penalty is a ridge: the share of its own moment by which every coefficient is drawn to the mean of the Prior, or
	// to 0.
	Penalty float64
	// Epsilon is the residual below which the loss is bent into a parabola, in the unit of the targets. 0 means a
	// thousandth of their mean magnitude. Too small a one makes tails jump, where few rows carry them.
	Epsilon float64
	// Passes is how often the weights are estimated again at most; 0 means 100. It ends sooner once nothing moves.
	Passes int
	// Start are the coefficients to begin with, those of a former fit, say; nil means the mean of the Prior or, without
	// one, least squares.
	Start Coefficients
	// Prior is what is known before; nil means nothing.
	Prior *Prior
}

const (
	defaultPasses  = 100
	defaultEpsilon = 1e-3
	// still is the change of the loss, as a share of it, at which nothing moves any more.
	still = 1e-9
)

// Coefficients are those of the regressors, in their order.
type Coefficients []float64

// At is the quantile at a row of regressors.
func (c Coefficients) At(row []float64) float64 {
	sum := 0.0
	for j, x := range row {
		sum += c[j] * x
	}
	return sum
}

// Fit estimates the coefficients. Errors wrap forecast.ErrParameter, forecast.ErrTooShort without a row that counts,
// forecast.ErrNotFinite, forecast.ErrNoConvergence.
func (r Regression) Fit(rows Rows) (Coefficients, error) {
	if err := r.check(rows); err != nil {
		return nil, fmt.Errorf("quantile regression: %w", err)
	}
	c, err := r.fit(rows)
	if err != nil {
		return nil, fmt.Errorf("quantile regression: %w", err)
	}
	return c, nil
}

// fit takes one pass after the other, and of all the coefficients on the way those of the least loss: a pass can
// overshoot where rows change sides.
func (r Regression) fit(rows Rows) (Coefficients, error) {
	width := rows.Width()
	epsilon := r.epsilon(rows)
	e := newEquations(width)
	c, err := r.start(rows, e)
	if err != nil {
		return nil, err
	}
	best, least := slices.Clone(c), math.Inf(1)
	for range cmp.Or(r.Passes, defaultPasses) {
		before := least
		loss := r.gather(e, rows, c, epsilon)
		if loss < least {
			least = loss
			copy(best, c)
		}
		if math.Abs(before-loss) <= still*loss {
			return best, nil
		}
		if err := e.solve(c); err != nil {
			return nil, err
		}
	}
	if r.gather(e, rows, c, epsilon) < least {
		copy(best, c)
	}
	return best, nil
}

// start is where the passes begin.
func (r Regression) start(rows Rows, e *equations) (Coefficients, error) {
	c := make(Coefficients, rows.Width())
	switch {
	case r.Start != nil:
		copy(c, r.Start)
	case r.Prior != nil:
		copy(c, r.Prior.Mean)
	default:
		for i, y := range rows.Y {
			e.add(rows.row(i, len(c)), y, rows.weight(i))
		}
		e.penalise(r.Penalty, nil)
		return c, e.solve(c)
	}
	return c, nil
}

// gather sets up the equations whose solution is the next step from c, and gives the loss at c.
func (r Regression) gather(e *equations, rows Rows, c Coefficients, epsilon float64) (loss float64) {
	e.clear()
	width := len(c)
	for i, y := range rows.Y {
		x := rows.row(i, width)
		residual := y - c.At(x)
		side, size := r.Level, residual
		if residual < 0 {
			side, size = 1-r.Level, -residual
		}
		side *= rows.weight(i)
		if size < epsilon {
			loss += side * (size*size/epsilon + epsilon) / 2 // The parabola that meets the line smoothly.
			size = epsilon
		} else {
			loss += side * size
		}
		e.add(x, y, side/size)
	}
	for j := range width {
		d := c[j] - r.Prior.mean(j)
		loss += r.Penalty * e.moments[j*width+j] * d * d / 2
	}
	loss += r.Prior.loss(c)
	e.penalise(r.Penalty, r.Prior)
	r.Prior.addTo(e)
	return loss
}

// Precision is the curvature of the loss at coefficients, per unit of weight: what a Prior from these rows is to have
// for each row that it is to count for.
func (r Regression) Precision(rows Rows, c Coefficients) ([]float64, error) {
	if err := r.check(rows); err != nil {
		return nil, fmt.Errorf("quantile regression: %w", err)
	}
	width := rows.Width()
	if len(c) != width {
		return nil, fmt.Errorf("quantile regression: %d coefficients, expected %d: %w", len(c), width,
			forecast.ErrParameter)
	}
	bare := Regression{Level: r.Level}
	e := newEquations(width)
	bare.gather(e, rows, c, r.epsilon(rows))
	total := 0.0
	for i := range rows.Y {
		total += rows.weight(i)
	}
	for i := range width {
		for j := range i + 1 {
			m := e.moments[i*width+j] / total
			e.moments[i*width+j], e.moments[j*width+i] = m, m
		}
	}
	return e.moments, nil
}

// epsilon is that asked for, or a share of the targets' mean magnitude; never 0.
func (r Regression) epsilon(rows Rows) float64 {
	if epsilon := cmp.Or(r.Epsilon, defaultEpsilon*rows.meanMagnitude()); epsilon > minEpsilon {
		return epsilon
	}
	return minEpsilon
}

// minEpsilon keeps the weights finite where all targets are 0.
const minEpsilon = 1e-80

func (r Regression) check(rows Rows) error {
	if !(r.Level > 0 && r.Level < 1) || !(r.Penalty >= 0) || r.Penalty > maxMagnitude ||
		!(r.Epsilon >= 0 && r.Epsilon <= maxMagnitude) ||
		r.Passes < 0 {
		return fmt.Errorf("level %v, penalty %v, epsilon %v, %d passes: expected a level between 0 and 1, and no "+
			"negative value: %w", r.Level, r.Penalty, r.Epsilon, r.Passes, forecast.ErrParameter)
	}
	if err := rows.check(); err != nil {
		return err
	}
	if r.Start != nil && len(r.Start) != rows.Width() {
		return fmt.Errorf("start of %d coefficients, expected %d: %w", len(r.Start), rows.Width(),
			forecast.ErrParameter)
	}
	return r.Prior.check(rows.Width())
}

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
		return fmt.Errorf("prior of %d means and %d precisions, expected %d and %d: %w",
			len(p.Mean), len(p.Precision), width, width*width, forecast.ErrParameter)
	}
	for _, numbers := range [][]float64{p.Mean, p.Precision} {
		for i, v := range numbers {
			if !(math.Abs(v) <= maxMagnitude) {
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
