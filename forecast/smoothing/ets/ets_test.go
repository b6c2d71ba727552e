package ets_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/forecast/transform"
	"github.com/forewarm/forewarm/testdata/classic"
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

// The monthly airline passengers grow, and their season with them, so their logarithm is what has an additive season.
func ExampleAuto() {
	passengers, err := classic.Read("AirPassengers")
	if err != nil {
		fmt.Println(err)
		return
	}
	fitted, err := transform.Log{Model: ets.Auto{Period: 12}}.Fit(passengers)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(3)
	upper := next.Quantile(0.95)
	for i, point := range next.Point {
		fmt.Printf("%.0f, below %.0f with 95 %%\n", point, upper[i])
	}
	// Output:
	// 446, below 475 with 95 %
	// 441, below 476 with 95 %
	// 506, below 554 with 95 %
}

// known is a model with everything fixed, of period 4 or 0.
func known(t *testing.T, m ets.Model, values []float64) *ets.Fitted {
	t.Helper()
	p, trend, season := ets.Parameters{Alpha: 0.4, Phi: 1}, 0.0, []float64(nil)
	if m.Trend != ets.NoTrend {
		p.Beta, trend = 0.1, 1
	}
	if m.Trend == ets.DampedTrend {
		p.Phi = 0.9
	}
	if m.Period > 0 {
		p.Gamma, season = 0.3, []float64{10, -20, 5, 5}
	}
	fitted, err := m.Fixed(p, 100, trend, season, daily(values))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// TestMomentsAgainstPaths checks means and standard errors against simulated paths, over three seasons.
func TestMomentsAgainstPaths(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const n, steps = 8000, 12
	for _, model := range six(4) {
		fitted := known(t, model, []float64{112, 83, 105, 101, 118, 85, 110, 108, 121, 92})
		want := fitted.Forecast(steps)
		var sum, squares [steps]float64
		for range n {
			path, next := fitted.Clone(), make([]float64, 1)
			for i, mean := range want.Point {
				path.PointsTo(next)
				y := next[0] + fitted.Deviation()*random.NormFloat64()
				path.Update(y)
				sum[i] += (y - mean) / n
				squares[i] += (y - mean) * (y - mean) / n
			}
		}
		for i, deviation := range want.StdErr {
			what := fmt.Sprintf("%s, step %d: ", model.Name(), i+1)
			relative(t, what+"standard error", math.Sqrt(squares[i]-sum[i]*sum[i]), deviation, 0.03)
			if math.Abs(sum[i]) > 0.05*deviation {
				t.Errorf("%sthe mean is off by %v, with a standard error of %v", what, sum[i], deviation)
			}
		}
	}
}

// TestGapWidens checks that a forecast over a gap is the one from before it, and that an observation makes the errors
// shrink again.
func TestGapWidens(t *testing.T) {
	for _, model := range six(4) {
		fitted := known(t, model, demand(6, 60, 4))
		before := fitted.Forecast(20)
		for range 5 {
			fitted.Update(math.NaN())
		}
		after := fitted.Forecast(15)
		if want := before.Start.Add(5 * before.Step); !after.Start.Equal(want) {
			t.Errorf("%s: the forecast starts at %v, want %v", model.Name(), after.Start, want)
		}
		for i := range after.Point {
			relative(t, model.Name()+": point", after.Point[i], before.Point[i+5], 1e-9)
			relative(t, model.Name()+": standard error", after.StdErr[i], before.StdErr[i+5], 1e-9)
		}
		fitted.Update(after.Point[0])
		if got := fitted.Forecast(5).StdErr[4]; !(got < after.StdErr[4]) {
			t.Errorf("%s: standard error %v after an observation, %v before it", model.Name(), got, after.StdErr[4])
		}
	}
}
