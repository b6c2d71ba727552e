package transform_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/transform"
	"github.com/forewarm/forewarm/testdata/golden"
)

type goldenData struct {
	Series map[string]struct {
		Values    []*float64
		Frequency int
	}
	BoxCox struct{ X, L05, L0, LM03 []float64 }
	Tests  map[string]struct{ Guerrero *float64 }
	// Means are those of AutoARIMA's forecast of AirPassengers with λ = 0.
	Means     []float64 `json:"airp_lambda0_biasadj_mean"`
	AutoARIMA map[string]struct {
		Lambda0 struct{ Mean, Lo80, Hi80, Hi95 []float64 }
	} `json:"auto_arima"`
}

// figures are R's, from the folder that FOREWARM_DATA names.
func figures(t *testing.T) goldenData {
	t.Helper()
	var data goldenData
	golden.Load(t, &data)
	return data
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestBoxCoxAgainstR(t *testing.T) {
	r := figures(t).BoxCox
	for lambda, want := range map[float64][]float64{0.5: r.L05, 0: r.L0, -0.3: r.LM03} {
		for i, x := range r.X {
			within(t, transform.BoxCox{Lambda: lambda}.Name(), transform.BoxCox{Lambda: lambda}.Forward(x), want[i],
				1e-12)
		}
	}
}

func TestGuerreroAgainstR(t *testing.T) {
	data := figures(t)
	for name, r := range data.Tests {
		var values []float64
		for _, v := range data.Series[name].Values {
			values = append(values, *v)
		}
		got, err := transform.Guerrero(values, data.Series[name].Frequency)
		if err != nil {
			t.Fatal(err)
		}
		within(t, name, got, *r.Guerrero, 1e-9)
	}
}

// given is a model that says what it was told.
type given struct{ points, errors []float64 }

func (given) Name() string                                   { return "given" }
func (g given) Fit(forecast.Series) (forecast.Fitted, error) { return g, nil }
func (given) Update(float64)                                 {}
func (g given) PointsTo(dst []float64)                       { copy(dst, g.points) }
func (g given) Forecast(h int) forecast.Forecast {
	return forecast.Forecast{Point: g.points[:h], StdErr: g.errors[:h]}
}

// R's forecasts of AirPassengers with λ = 0: from the medians and the 80 % intervals follow what the model said of the
// logarithms, and from that the 95 % intervals and the means.
func TestMeansAgainstR(t *testing.T) {
	data := figures(t)
	r := data.AutoARIMA["AirPassengers"].Lambda0
	inner := given{points: make([]float64, len(r.Mean)), errors: make([]float64, len(r.Mean))}
	for i, median := range r.Mean {
		inner.points[i] = math.Log(median)
		inner.errors[i] = math.Log(r.Hi80[i]/r.Lo80[i]) / (2 * distuv.UnitNormal.Quantile(0.9))
	}
	for means, want := range map[int][]float64{0: r.Mean, len(r.Mean): data.Means} {
		fitted, err := transform.Model{Transform: transform.BoxCox{}, Model: inner, Means: means}.Fit(hourly(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		next := fitted.Forecast(len(r.Mean))
		for i, upper := range next.Quantile(0.975) {
			within(t, "point", next.Point[i]/want[i], 1, 1e-9)
			within(t, "bound", upper/r.Hi95[i], 1, 1e-9)
		}
	}
}
