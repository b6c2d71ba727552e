package arima

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// collinear is the share of a column below which nothing but rounding is left of it.
const collinear = 1e-10

// constantAt is what the series has of its constant at a step, the first of which is 1: a mean without differences, a drift
// with one.
func (o Order) constantAt(step int) float64 {
	if o.differences() == 0 {
		return 1
	}
	return float64(step)
}

// regression is that of the series on its constant. The column is brought to unit deviation of its differences, so that the
// generalised least squares keep their digits.
type regression struct {
	differenced, level []float64
	// weight is that of the constant in the column.
	weight float64
	// first is the coefficient, of the column, of the regression that was taken out of the series.
	first float64
}

// newRegression changes the column in place. One of which the differences leave nothing becomes 0: no series can tell its
// coefficient, which stays 0.
func newRegression(differenced, level []float64) *regression {
	norm := floats.Norm(differenced, 2)
	unit := math.Sqrt(float64(len(differenced))) / norm
	if !(norm > collinear*floats.Norm(level, 2)) {
		unit = 0
	}
	floats.Scale(unit, differenced)
	floats.Scale(unit, level)
	return &regression{differenced: differenced, level: level, weight: unit}
}

// remove takes the ordinary regression out of a series, given as its differences and as levels.
func (r *regression) remove(differenced []float64, levels ...[]float64) {
	r.first = floats.Dot(r.differenced, differenced) / math.Max(float64(len(differenced)), 1)
	floats.AddScaled(differenced, -r.first, r.differenced)
	for _, level := range levels {
		floats.AddScaled(level, -r.first, r.level)
	}
}

// constant is that where the coefficient lies at a distance from the first.
func (r *regression) constant(distance float64) float64 {
	if r == nil {
		return 0
	}
	return (r.first + distance) * r.weight
}

// distance is the inverse of constant.
func (r *regression) distance(constant float64) float64 {
	if r == nil || r.weight == 0 {
		return 0
	}
	return constant/r.weight - r.first
}

// project is the least-squares regression of a whitened series on a whitened column: the coefficient, and the sum of squares
// that is left, or NaN where nothing but rounding would be left of it.
func project(y, x []float64) (coefficient, rest float64) {
	squares := floats.Dot(y, y)
	own, cross := floats.Dot(x, x), floats.Dot(x, y)
	if root := math.Sqrt(own); root*root > collinear*own {
		coefficient = cross / root / root
	}
	rest = squares - cross*coefficient
	if rest < cancelled*squares {
		rest = math.NaN()
	}
	return coefficient, rest
}
