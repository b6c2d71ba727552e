package arima

import (
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/forecast/regress"
)

// collinear is the share of a column, or of a pivot, below which nothing but rounding is left of it.
const collinear = 1e-10

// rows are the regressors of a model with its constant in front: the mean without differences, the drift with one.
type rows struct {
	design   regress.Design
	constant regress.Term
}

func rowsOf(order Order, design regress.Design) rows {
	r := rows{design: design}
	switch {
	case order.Constant && order.differences() == 0:
		r.constant = regress.Mean{}
	case order.Constant:
		r.constant = regress.Drift{}
	}
	return r
}

func (r rows) width() int {
	if r.constant != nil {
		return 1 + r.design.Width()
	}
	return r.design.Width()
}

func (r rows) row(dst []float64, step int, at time.Time) {
	if r.constant != nil {
		r.constant.Row(dst[:1:1], step, at)
		dst = dst[1:]
	}
	r.design.Row(dst, step, at)
}

// basis is what makes the columns of a regression orthogonal, so that the normal equations of its generalised least squares
// keep their digits: the modified Gram–Schmidt process on their differences.
type basis struct {
	differenced, levels [][]float64
	// weights[i] are those of the given columns in the i-th of the basis.
	weights [][]float64
	// first are the coefficients, in the basis, of the regression that was taken out of the series.
	first []float64
}

// newBasis changes the columns in place. A column of which the differences, or those before it, leave nothing becomes 0:
// no series can tell its coefficient, which stays 0.
func newBasis(differenced, levels [][]float64) basis {
	b := basis{
		differenced: differenced, levels: levels,
		weights: make([][]float64, len(levels)), first: make([]float64, len(levels)),
	}
	for i, column := range differenced {
		b.weights[i] = make([]float64, len(levels))
		b.weights[i][i] = 1
		given := floats.Norm(levels[i], 2)
		// Once more is enough (Giraud, Langou & Rozložník 2005).
		for range 2 {
			for j := range i {
				share := floats.Dot(differenced[j], column) / math.Max(float64(len(column)), 1)
				floats.AddScaled(column, -share, differenced[j])
				floats.AddScaled(levels[i], -share, levels[j])
				floats.AddScaled(b.weights[i], -share, b.weights[j])
			}
		}
		norm := floats.Norm(column, 2)
		unit := math.Sqrt(float64(len(column))) / norm
		if !(norm > collinear*given) {
			unit = 0
		}
		for _, v := range [][]float64{column, levels[i], b.weights[i]} {
			floats.Scale(unit, v)
		}
	}
	return b
}

// remove takes the ordinary regression out of a series, given as its differences and as levels.
func (b *basis) remove(differenced []float64, levels ...[]float64) {
	for i, column := range b.differenced {
		c := floats.Dot(column, differenced) / math.Max(float64(len(column)), 1)
		b.first[i] = c
		floats.AddScaled(differenced, -c, column)
		for _, level := range levels {
			floats.AddScaled(level, -c, b.levels[i])
		}
	}
}

// coefficients are those of the given columns where those of the basis lie at a distance from the first.
func (b *basis) coefficients(distance []float64) []float64 {
	out := make([]float64, len(b.first))
	for i, c := range b.first {
		floats.AddScaled(out, c+distance[i], b.weights[i])
	}
	return out
}

// distances is the inverse of coefficients: the distances at which the given coefficients lie. The weights are triangular.
func (b *basis) distances(coefficients []float64) []float64 {
	out := make([]float64, len(b.first))
	rest := append([]float64(nil), coefficients...)
	for i := len(out) - 1; i >= 0; i-- {
		if w := b.weights[i][i]; w != 0 {
			c := rest[i] / w
			floats.AddScaled(rest, -c, b.weights[i])
			out[i] = c - b.first[i]
		}
	}
	return out
}

// project is the least-squares regression of the first of the whitened columns on the others: their coefficients, in
// coefficients, and the sum of squares that is left, or NaN where nothing but rounding would be left of it. normal is room.
func project(columns, normal [][]float64, coefficients []float64) float64 {
	y, x := columns[0], columns[1:]
	squares := floats.Dot(y, y)
	for i, a := range x {
		coefficients[i] = floats.Dot(a, y)
		for j := range i + 1 {
			normal[i][j] = floats.Dot(a, x[j])
		}
	}
	right := normal[len(x)][:len(x)]
	copy(right, coefficients)
	solveSemidefinite(normal[:len(x)], coefficients)
	rest := squares - floats.Dot(right, coefficients)
	if rest < cancelled*squares {
		return math.NaN()
	}
	return rest
}

// solveSemidefinite solves a symmetric system of which parts may vanish, in place; what they belong to is 0.
func solveSemidefinite(a [][]float64, b []float64) {
	for i, row := range a {
		before := row[i]
		for j := range i {
			row[j] = over(row[j]-floats.Dot(row[:j], a[j][:j]), a[j][j])
		}
		row[i] = math.Sqrt(math.Max(row[i]-floats.Dot(row[:i], row[:i]), 0))
		if !(row[i]*row[i] > collinear*before) {
			row[i] = 0
		}
		b[i] = over(b[i]-floats.Dot(row[:i], b[:i]), row[i])
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := i + 1; k < len(a); k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] = over(b[i], a[i][i])
	}
}

// over is a/b, or 0 where b is.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
