package ets_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// six are the models of the family.
func six(period int) []ets.Model {
	var out []ets.Model
	for trend := ets.NoTrend; trend <= ets.DampedTrend; trend++ {
		out = append(out, ets.Model{Trend: trend}, ets.Model{Trend: trend, Period: period})
	}
	return out
}

func daily(values []float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

// demand draws a level, a season of the period and noise, all positive.
func demand(seed uint64, n, period int) []float64 {
	random := rand.New(rand.NewPCG(seed, 3))
	out := make([]float64, n)
	for t := range out {
		angle := 2 * math.Pi * float64(t) / float64(period)
		out[t] = (100 + 0.1*float64(t)) * (1 + 0.3*math.Sin(angle) + 0.05*random.NormFloat64())
	}
	return out
}

func relative(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Max(math.Abs(want), 1e-300)) {
		t.Errorf("%s = %.12g, want %.12g within %.1g of it", what, got, want, tolerance)
	}
}

// asLikely wants an AICc near R's or below.
func asLikely(t *testing.T, model forecast.Model, values []float64, aicc float64) {
	t.Helper()
	fitted, err := model.Fit(daily(values))
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := fitted.(*ets.Fitted); !ok || !(f.AICc() <= aicc+0.1) {
		t.Errorf("%s: %+v, R has an AICc of %.3f", model.Name(), fitted, aicc)
	}
}

func TestHostileSeries(t *testing.T) {
	for _, m := range six(12) {
		modeltest.Test(t, m)
	}
	modeltest.Test(t, ets.Model{Trend: ets.DampedTrend, Period: 40})
	modeltest.Test(t, ets.Auto{})
	modeltest.Test(t, ets.Auto{Period: 7})
}

// TestAutoAlwaysForecasts checks that the automatic choice has a forecast for every series with two observations.
func TestAutoAlwaysForecasts(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		s := daily(values)
		_, err := ets.Auto{Period: 12}.Fit(s)
		switch {
		case errors.Is(err, forecast.ErrNotFinite):
		case s.Observed() < 2:
			if !errors.Is(err, forecast.ErrTooShort) {
				t.Errorf("%s: %v, want %v", name, err, forecast.ErrTooShort)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(4), uint8(3), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period, which uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, six(int(period % 30))[which%6], values)
		modeltest.Check(t, ets.Auto{Period: int(period % 30)}, values)
	})
}

func TestBadModels(t *testing.T) {
	s := daily(demand(1, 60, 6))
	for name, c := range map[string]struct {
		model  forecast.Model
		series forecast.Series
		want   error
	}{
		"a season of one step":  {ets.Model{Period: 1}, s, forecast.ErrParameter},
		"an unknown trend":      {ets.Model{Trend: 7}, s, forecast.ErrParameter},
		"less than two seasons": {ets.Model{Period: 31}, s, forecast.ErrTooShort},
		"a negative period":     {ets.Auto{Period: -1}, s, forecast.ErrParameter},
		"one observation":       {ets.Auto{}, daily([]float64{1}), forecast.ErrTooShort},
	} {
		if _, err := c.model.Fit(c.series); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestScaleEquivariance scales by powers of two: they change no digit, so the search takes the very same path.
func TestScaleEquivariance(t *testing.T) {
	values := demand(5, 100, 12)
	var want forecast.Forecast
	for _, exponent := range []int{0, -900, -3, 10, 480} {
		changed := make([]float64, len(values))
		for i, v := range values {
			changed[i] = math.Ldexp(v, exponent)
		}
		fitted, err := ets.Auto{Period: 12}.Fit(daily(changed))
		if err != nil {
			t.Fatal(err)
		}
		got := fitted.Forecast(14)
		if exponent == 0 {
			want = got
		}
		for i := range want.Point {
			relative(t, "point", math.Ldexp(got.Point[i], -exponent), want.Point[i], 1e-12)
			relative(t, "standard error", math.Ldexp(got.StdErr[i], -exponent), want.StdErr[i], 1e-9)
		}
	}
}
