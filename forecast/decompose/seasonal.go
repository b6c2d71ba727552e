package decompose

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Seasonal gives seasons to a model that has none: MSTL takes them off the series, the model forecasts what is left,
// and each season goes on as it last was (Hyndman & Athanasopoulos 2021, section 13.3; R's stlf).
type Seasonal struct {
	// Periods are the lengths of the seasons in steps, each 2 or more. A period that the series does not hold twice is
	// left out.
	Periods []int
	// Model forecasts the seasonally adjusted series, gaps included.
	Model forecast.Model
}

// Name is the decomposition with its periods, and the model: "MSTL[24 168] + SES".
func (m Seasonal) Name() string {
	name := fmt.Sprintf("MSTL%v", m.Periods)
	if m.Model == nil {
		return name + " without a model"
	}
	return name + " + " + m.Model.Name()
}

// Fit decomposes the series and fits the model to the seasonally adjusted one. It wants two whole seasons of the
// shortest period and what the model wants.
func (m Seasonal) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Model == nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), forecast.ErrParameter)
	}
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	parts, err := MSTL{Periods: m.Periods}.Decompose(s.Values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	rest := s
	rest.Values = parts.Adjusted()
	inner, err := m.Model.Fit(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f := &seasonal{inner: inner}
	for _, season := range parts.Seasons {
		last := season.Values[len(season.Values)-season.Period:]
		f.cycles = append(f.cycles, cycle{parts: [][]float64{append([]float64(nil), last...)}})
	}
	return f, nil
}

// seasonal is a model of the seasonally adjusted series at its origin, and the seasons that go on.
type seasonal struct {
	inner  forecast.Fitted
	cycles []cycle
}

// Update moves the origin one step on: the model takes what is left of the observation without the seasons, which stay as
// they were fitted. A value that is not finite, or beyond 1e150, counts as missing.
func (f *seasonal) Update(y float64) {
	for i := range f.cycles {
		y -= f.cycles[i].next()
		f.cycles[i].advance()
	}
	f.inner.Update(y)
}

// PointsTo writes the model's points with the seasons added.
func (f *seasonal) PointsTo(dst []float64) {
	f.inner.PointsTo(dst)
	for i := range f.cycles {
		f.cycles[i].addTo(dst)
	}
}

// Forecast has the model's standard errors: the seasons are taken for known.
func (f *seasonal) Forecast(h int) forecast.Forecast {
	out := f.inner.Forecast(h)
	for i := range f.cycles {
		f.cycles[i].addTo(out.Point)
	}
	if out.Marginals != nil {
		by := make([]float64, len(out.Point))
		for i := range f.cycles {
			f.cycles[i].addTo(by)
		}
		out.Marginals = shifted{out.Marginals, by}
	}
	return out
}
