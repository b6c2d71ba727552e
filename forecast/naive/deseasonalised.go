package naive

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Deseasonalised is the last value of the series with its season taken out and put back in: the Naive2 of the M4
// competition, which its scores are relative to (Makridakis, Spiliotis & Assimakopoulos 2020). The season is that of a
// classical multiplicative decomposition, and is there only where the autocorrelation at the period is significant at
// 90 %; otherwise, and where an observation is not positive, the method is Last alone.
type Deseasonalised struct {
	// Period is the length of the season in steps; 1 means none.
	Period int
}

// Name is the competition's: "Naive2(m=24)".
func (m Deseasonalised) Name() string { return fmt.Sprintf("Naive2(m=%d)", m.Period) }

// Fit wants two observations; a season wants three of its length. Errors: forecast.ErrParameter, forecast.ErrTooShort,
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

// deseasonalised is a last value without season at its origin; at is the season's step that comes next.
type deseasonalised struct {
	inner   forecast.Fitted
	indices []float64
	at      int
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
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

// Forecast has the adjusted series' standard errors, times the step's index.
func (f *deseasonalised) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	for i := range out.Point {
		index := f.indices[(f.at+i)%len(f.indices)]
		out.Point[i] *= index
		out.StdErr[i] *= index
	}
	return out
}
