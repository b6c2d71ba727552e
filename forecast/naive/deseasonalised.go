package naive

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Deseasonalised forecasts the last value of the seasonally adjusted series, multiplied by the seasonal index of each step. It is the
// method Naive2 of the M4 competition, whose scores are relative to it (Makridakis, Spiliotis & Assimakopoulos 2020). The season comes from
// a classical multiplicative decomposition. It is used only if the autocorrelation at the period is significant at 90 % and all
// observations are positive. Otherwise, the method is the same as Last.
type Deseasonalised struct {
	// Period is the length of the season in steps; 1 means none.
	Period int
}

// Name returns the competition's name with the period: "Naive2(m=24)".
func (m Deseasonalised) Name() string { return fmt.Sprintf("Naive2(m=%d)", m.Period) }

// Fit needs two observations. A season is used only with at least three whole periods. Errors: forecast.ErrParameter, forecast.ErrTooShort,
// forecast.ErrNotFinite.
func (m Deseasonalised) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Period < 1 {
		return nil, fmt.Errorf("%s: period %d, expected 1 or more: %w", m.Name(), m.Period, forecast.ErrParameter)
	}
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	indices := []float64{1}
	if m.Period > 1 && positive(s.Values) && seasonal90(s.Values, m.Period) {
		if found := ratioIndices(s.Values, m.Period); usable(found) {
			indices = found
		}
	}
	adjusted := s
	adjusted.Values = make([]float64, s.Len())
	for i, y := range s.Values {
		adjusted.Values[i] = y / indices[i%len(indices)]
	}
	fitted, err := Last{}.Fit(adjusted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return &deseasonalised{inner: fitted, indices: indices, at: s.Len() % len(indices)}, nil
}

// deseasonalised is the fitted method at its origin. at is the season's next step.
type deseasonalised struct {
	inner   forecast.Fitted
	indices []float64
	at      int
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *deseasonalised) Update(y float64) {
	if !numeric.Observed(y) {
		y = math.NaN()
	}
	f.inner.Update(y / f.indices[f.at])
	f.at = (f.at + 1) % len(f.indices)
}

// PointsTo writes the last adjusted value times each step's index.
func (f *deseasonalised) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i := range dst {
		dst[i] *= f.indices[(f.at+i)%len(f.indices)]
	}
}

// Forecast returns the points with the standard errors of the adjusted series, times each step's index.
func (f *deseasonalised) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	for i := range out.Point {
		index := f.indices[(f.at+i)%len(f.indices)]
		out.Point[i] *= index
		out.StdErr[i] *= index
	}
	return out
}
