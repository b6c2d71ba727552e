package theta_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/theta"
	"github.com/forewarm/forewarm/testdata/classic"
)

func daily(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

func fit(t *testing.T, model forecast.Model, s forecast.Series) forecast.Fitted {
	t.Helper()
	fitted, err := model.Fit(s)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The figures are those of thetaf in R 4.2.2, forecast 8.20: its points, and the upper limits of its 95 % intervals. R's
// search ends at an α of at most 0.9999, and within 1e-4 of the least squares elsewhere.
func TestAgainstR(t *testing.T) {
	for _, c := range []struct {
		series       string
		period       int
		point, upper []float64
	}{
		{"Nile", 1, []float64{799.811996216, 798.454843501}, []float64{1082.50104987, 1089.54947381}},
		{"LakeHuron", 1, []float64{579.947891221, 579.935790666}, []float64{581.416045013, 582.01196976}},
		{"WWWusage", 1, []float64{220.30962808, 220.61902502}, []float64{231.735723424, 236.777155542}},
		{"lh", 1, []float64{2.91342981648, 2.9200027648}, []float64{3.90878820003, 4.28960739068}},
		{"AirPassengers", 12, []float64{
			440.078191081586, 428.384280556983, 489.707098669638, 475.704627661373, 479.670388669209, 545.366272154216,
			602.752001822396, 601.100763091486, 523.951492158653, 456.62714491283, 397.953734665557, 447.644908742896,
		}, nil}, // R's intervals do not grow with the season's factor.
	} {
		s := classic.Series(t, c.series)
		f := fit(t, naive.Deseasonalised{Period: c.period, Model: theta.Theta{}}, s).Forecast(len(c.point))
		for i, want := range c.point {
			near(t, c.series+": point", f.Point[i], want, 5e-5)
		}
		for i, want := range c.upper {
			near(t, c.series+": upper limit", f.Quantile(0.975)[i], want, 5e-5)
		}
	}
}

// A straight line goes on by half of its slope.
func TestStraightLine(t *testing.T) {
	var values []float64
	for i := range 40 {
		values = append(values, 5+2*float64(i))
	}
	fitted := fit(t, theta.Theta{}, daily(values...))
	points := fitted.Forecast(3).Point
	near(t, "slope", points[2]-points[1], 1, 0.01)
	fitted.Update(85)
	fitted.Update(math.NaN())
	moved := fitted.Forecast(2).Point
	near(t, "slope after two steps", moved[1]-moved[0], 1, 0.01)
}

// A gap widens what is forecast after it, and observations narrow it again.
func TestGapsWiden(t *testing.T) {
	s := classic.Series(t, "Nile")
	fitted := fit(t, theta.Theta{}, s)
	before := fitted.Forecast(6).StdErr
	for range 5 {
		fitted.Update(math.NaN())
	}
	near(t, "standard error after five missing steps", fitted.Forecast(1).StdErr[0], before[5], 1e-12)
	for range 30 {
		fitted.Update(900)
	}
	near(t, "standard error long after", fitted.Forecast(1).StdErr[0], before[0], 1e-6)
}

func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		s    forecast.Series
		want error
	}{
		"two values":   {daily(1, math.NaN(), 2), forecast.ErrTooShort},
		"infinite":     {daily(1, math.Inf(1), 2, 3), forecast.ErrNotFinite},
		"three values": {daily(1, 4, 2), nil},
	} {
		if _, err := (theta.Theta{}).Fit(tt.s); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func models(period int) []forecast.Model {
	return []forecast.Model{theta.Theta{}, naive.Deseasonalised{Period: period, Model: theta.Theta{}}}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models(12) {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(4), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period uint8, raw []byte) {
		for _, model := range models(int(period%30) + 1) {
			modeltest.Check(t, model, modeltest.Values(raw))
		}
	})
}
