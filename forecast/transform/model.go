package transform

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Model fits another model to the transformed series, and takes its forecasts back.
type Model struct {
	// Transform is the map. Transforms follow each other by models within models: the outer one is applied first.
	Transform Transform
	// Model forecasts the transformed series.
	Model forecast.Model
	// Means makes the points means rather than medians, by the second-order bias adjustment z ↦ g(z) + ½σ²g″(z), with
	// the standard errors σ that the model had when it was fitted: step by step for this many steps, that of the last
	// for those after it. 0 leaves medians, which are what a decision on the absolute error wants, and which no wide
	// error carries away.
	Means int
}

// Name is that of the model after the transform: "SES of log1p", "mean of SES of log1p".
func (m Model) Name() string {
	if m.Transform == nil || m.Model == nil {
		return "a transform without map or model"
	}
	name := m.Model.Name() + " of " + m.Transform.Name()
	if m.Means > 0 {
		return "mean of " + name
	}
	return name
}

// Fit wants values in the domain of the transform (else ErrParameter), and what the model wants.
func (m Model) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Transform == nil || m.Model == nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), forecast.ErrParameter)
	}
	if err := units.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	mapped := s
	mapped.Values = make([]float64, s.Len())
	for i, y := range s.Values {
		z := m.Transform.Forward(y)
		if math.IsNaN(z) && !math.IsNaN(y) {
			return nil, fmt.Errorf("%s: value %d is %v, outside the domain: %w", m.Name(), i, y, forecast.ErrParameter)
		}
		mapped.Values[i] = z
	}
	inner, err := m.Model.Fit(mapped)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Transform.Name(), err)
	}
	f := &fitted{transform: m.Transform, inner: inner}
	if m.Means > 0 {
		f.errors = inner.Forecast(m.Means).StdErr
	}
	return f, nil
}

// fitted is a model of the transformed series at its origin.
type fitted struct {
	transform Transform
	inner     forecast.Fitted
	// errors are the standard errors that points are adjusted for; none where they are medians.
	errors []float64
}

// Update moves the origin one step on. A value outside the domain, not finite, or beyond 1e150, counts as missing.
func (f *fitted) Update(y float64) {
	if !units.Observed(y) {
		y = math.NaN()
	}
	f.inner.Update(f.transform.Forward(y))
}

// PointsTo writes the medians of the coming steps, or their means.
func (f *fitted) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i, z := range dst {
		dst[i] = f.point(i, z)
	}
}

// point takes the model's point of step i back.
func (f *fitted) point(i int, z float64) float64 {
	median := inverse(f.transform, z)
	if len(f.errors) == 0 {
		return median
	}
	deviation := f.errors[min(i, len(f.errors)-1)]
	mean := median + deviation*deviation/2*f.transform.Curvature(z)
	if math.IsNaN(mean) {
		return median
	}
	return hold(mean)
}

// inverse takes a value back, to within the largest observation there could be.
func inverse(t Transform, z float64) float64 { return hold(t.Inverse(z)) }

func hold(y float64) float64 { return min(max(y, -units.Limit), units.Limit) }

// Forecast has the model's quantiles, taken back, for marginals. A step's standard error is half the width of its
// central 68.3 % interval, as it is of a Gaussian.
func (f *fitted) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	marginals := inverted{transform: f.transform, points: out.Point, errors: out.StdErr, inner: out.Marginals}
	out.Marginals = marginals
	out.Point, out.StdErr = make([]float64, len(marginals.points)), make([]float64, len(marginals.points))
	above, below := distuv.UnitNormal.CDF(1), distuv.UnitNormal.CDF(-1)
	for i, z := range marginals.points {
		out.Point[i] = f.point(i, z)
		// Rounding may put the one a digit below the other.
		out.StdErr[i] = max((marginals.Quantile(i, above)-marginals.Quantile(i, below))/2, 0)
	}
	return out
}

// inverted are the marginals of values whose transforms are Gaussian, or have marginals of their own.
type inverted struct {
	transform      Transform
	points, errors []float64
	inner          forecast.Marginals
}

// Quantile is that of the transform, taken back.
func (m inverted) Quantile(i int, p float64) float64 {
	if m.inner != nil {
		return inverse(m.transform, m.inner.Quantile(i, p))
	}
	return inverse(m.transform, m.points[i]+distuv.UnitNormal.Quantile(p)*m.errors[i])
}

// Power is Model with a Box-Cox transform whose power Guerrero finds in the series.
type Power struct {
	// Period is the length of a season in steps; below 2 it counts as 2.
	Period int
	// Model forecasts the transformed series, and Means is as in Model.
	Model forecast.Model
	Means int
}

// Name has no power: Fit selects it.
func (m Power) Name() string {
	if m.Model == nil {
		return "Box-Cox(Guerrero) without a model"
	}
	return m.Model.Name() + " of Box-Cox(Guerrero)"
}

// Fit wants positive values (else ErrParameter), two periods, and what the model wants.
func (m Power) Fit(s forecast.Series) (forecast.Fitted, error) {
	if err := s.Check(1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	lambda, err := Guerrero(s.Values, m.Period)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return Model{Transform: BoxCox{Lambda: lambda}, Model: m.Model, Means: m.Means}.Fit(s)
}
