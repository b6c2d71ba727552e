package smoothing_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/testdata/classic"
)

var (
	_ forecast.Model  = smoothing.SES{}
	_ forecast.Model  = smoothing.Holt{}
	_ forecast.Model  = smoothing.HoltWinters{}
	_ forecast.Fitted = (*smoothing.Fitted)(nil)
)

func daily(values []float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.10g, want %.10g within %.1g", what, got, want, tolerance)
	}
}

type estimator interface {
	Estimate(forecast.Series) (*smoothing.Fitted, error)
}

func estimate(t *testing.T, model estimator, s forecast.Series) *smoothing.Fitted {
	t.Helper()
	fitted, err := model.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// seasonal draws a trend, a season of the period and noise.
func seasonal(seed uint64, n, period int) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for t := range out {
		angle := 2 * math.Pi * float64(t) / float64(period)
		out[t] = 100 + 0.02*float64(t) + 10*math.Sin(angle) + 4*math.Cos(2*angle) + random.NormFloat64()
	}
	return out
}

// withGaps is a copy with about the share of the values missing.
func withGaps(values []float64, seed uint64, share float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 2))
	out := append([]float64(nil), values...)
	for i := range out {
		if random.Float64() < share {
			out[i] = math.NaN()
		}
	}
	return out
}

func TestClassicHoltWinters(t *testing.T) {
	for _, r := range classic.Load(t).HoltWinters {
		s := classic.Series(t, r.Series)
		found := estimate(t, smoothing.HoltWinters{Period: r.Period}, s)
		if found.SSE() > r.SSE*(1+1e-6) {
			t.Errorf("SSE %v, R finds %v", found.SSE(), r.SSE)
		}
		within(t, "alpha", found.Parameters().Alpha, r.Alpha, 1e-3)
		within(t, "beta", found.Parameters().Beta, r.Beta, 1e-3)
		within(t, "gamma", found.Parameters().Gamma, r.Gamma, 1e-3)
		model := smoothing.HoltWinters{Period: r.Period, Alpha: &r.Alpha, Beta: &r.Beta, Gamma: &r.Gamma}
		fixed := estimate(t, model, s)
		within(t, "SSE", fixed.SSE(), r.SSE, 1e-6)
		within(t, "level", fixed.Level(), r.Level, 1e-9)
		within(t, "trend", fixed.Trend(), r.Trend, 1e-9)
		for i, want := range r.Season {
			within(t, "season", fixed.Season()[i], want, 1e-9)
		}
		for i, got := range fixed.Forecast(len(r.Forecast)).Point {
			within(t, "point", got, r.Forecast[i], 1e-8)
		}
	}
}

// TestClassicSES checks simple smoothing of the Nile. The reference chose its starting level; put before the series,
// that level becomes the start by convention.
func TestClassicSES(t *testing.T) {
	for _, r := range classic.Load(t).SES {
		s := classic.Series(t, r.Series)
		s.Values = append([]float64{r.StartLevel}, s.Values...)
		fixed := estimate(t, smoothing.SES{Alpha: &r.Alpha}, s)
		within(t, "level", fixed.Level(), r.Level, 1e-8)
		within(t, "SSE", fixed.SSE()/r.SSE, 1, 1e-10)
		within(t, "alpha", estimate(t, smoothing.SES{}, s).Parameters().Alpha, r.Alpha, 1e-3)
	}
}

func TestFixedSmoothing(t *testing.T) {
	r := classic.Load(t)
	for _, want := range r.SESFixed {
		got := estimate(t, smoothing.SES{Alpha: &want.Alpha}, daily(want.Values))
		within(t, "SES level", got.Level(), want.Level, 1e-9)
		within(t, "SES SSE", got.SSE(), want.SSE, 1e-9)
	}
	for _, want := range r.Holt {
		got := estimate(t, smoothing.Holt{Alpha: &want.Alpha, Beta: &want.Beta}, daily(want.Values))
		within(t, "Holt level", got.Level(), want.Level, 1e-9)
		within(t, "Holt trend", got.Trend(), want.Trend, 1e-9)
		within(t, "Holt SSE", got.SSE(), want.SSE, 1e-9)
	}
}

// TestStandardErrors checks the closed forms of Hyndman, Koehler, Ord & Snyder (2008), table 6.2.
func TestStandardErrors(t *testing.T) {
	const a, b, g = 0.3, 0.2, 0.4
	const trend, season = a * b, (1 - a) * g
	s := daily(seasonal(1, 200, 12))
	for _, c := range []struct {
		name  string
		model estimator
		want  func(h float64) float64
	}{
		{"SES", smoothing.SES{Alpha: new(a)}, func(h float64) float64 { return 1 + a*a*(h-1) }},
		{"Holt", smoothing.Holt{Alpha: new(a), Beta: new(b)}, func(h float64) float64 {
			return 1 + (h-1)*(a*a+a*trend*h+trend*trend*h*(2*h-1)/6)
		}},
		{
			"Holt-Winters without trend",
			smoothing.HoltWinters{Period: 12, Trend: smoothing.NoTrend, Alpha: new(a), Gamma: new(g)},
			func(h float64) float64 {
				k := math.Floor((h - 1) / 12)
				return 1 + a*a*(h-1) + season*k*(2*a+season)
			},
		},
		{
			"Holt-Winters",
			smoothing.HoltWinters{Period: 12, Alpha: new(a), Beta: new(b), Gamma: new(g)},
			func(h float64) float64 {
				k := math.Floor((h - 1) / 12)
				return 1 + (h-1)*(a*a+a*trend*h+trend*trend*h*(2*h-1)/6) + season*k*(2*a+season+trend*12*(k+1))
			},
		},
	} {
		next := estimate(t, c.model, s).Forecast(40)
		for i, got := range next.StdErr {
			ratio := got / next.StdErr[0]
			within(t, fmt.Sprintf("%s, step %d", c.name, i+1), ratio*ratio, c.want(float64(i+1)), 1e-9)
		}
	}
}

func fixedModels() map[string]estimator {
	a, b, g, phi := new(0.3), new(0.1), new(0.2), new(0.9)
	return map[string]estimator{
		"SES": smoothing.SES{Alpha: a}, "Holt": smoothing.Holt{Alpha: a, Beta: b},
		"damped Holt":  smoothing.Holt{Damped: true, Alpha: a, Beta: b, Phi: phi},
		"Holt-Winters": smoothing.HoltWinters{Period: 12, Alpha: a, Beta: b, Gamma: g},
		"damped Holt-Winters": smoothing.HoltWinters{
			Period: 12, Trend: smoothing.DampedTrend, Alpha: a, Beta: b, Gamma: g, Phi: phi,
		},
	}
}

func TestUpdateIsRefit(t *testing.T) {
	for name, model := range fixedModels() {
		for _, share := range []float64{0, 0.3} {
			values := withGaps(seasonal(4, 300, 12), 4, share)
			whole, stepped := estimate(t, model, daily(values)), estimate(t, model, daily(values[:150]))
			for _, y := range values[150:] {
				stepped.Update(y)
			}
			a, b := whole.Forecast(30), stepped.Forecast(30)
			if !a.Start.Equal(b.Start) {
				t.Errorf("%s: starts %v and %v", name, a.Start, b.Start)
			}
			for i := range a.Point {
				within(t, name+": point", b.Point[i], a.Point[i], 1e-9)
				within(t, name+": growth", b.StdErr[i]/b.StdErr[0], a.StdErr[i]/a.StdErr[0], 1e-9)
			}
		}
	}
}

// TestGapWidens checks that a forecast over a gap is the forecast from before it, and that an observation makes the
// errors shrink again.
func TestGapWidens(t *testing.T) {
	for name, model := range fixedModels() {
		fitted := estimate(t, model, daily(seasonal(5, 200, 12)))
		before := fitted.Forecast(40)
		for range 5 {
			fitted.Update(math.NaN())
		}
		after := fitted.Forecast(35)
		for i := range after.Point {
			within(t, name+": point", after.Point[i], before.Point[i+5], 1e-9)
			within(t, name+": standard error", after.StdErr[i], before.StdErr[i+5], 1e-9)
		}
		fitted.Update(after.Point[0])
		if got := fitted.Forecast(1).StdErr[0]; !(got < after.StdErr[0] && got > before.StdErr[0]) {
			t.Errorf("%s: standard error %v after the gap, want it between %v and %v",
				name, got, before.StdErr[0], after.StdErr[0])
		}
		for range 60 {
			fitted.Update(100)
		}
		within(t, name+": standard error long after", fitted.Forecast(1).StdErr[0], before.StdErr[0], 1e-6)
	}
}

func TestScaleEquivariance(t *testing.T) {
	values := seasonal(6, 200, 12)
	for _, model := range []estimator{
		smoothing.SES{},
		smoothing.Holt{},
		smoothing.Holt{Damped: true},
		smoothing.HoltWinters{Period: 12},
	} {
		base := estimate(t, model, daily(values)).Forecast(5)
		// Powers of two change no digit, so the search takes the very same path.
		for _, exponent := range []int{-900, -3, 10, 480} {
			changed := make([]float64, len(values))
			for i, v := range values {
				changed[i] = math.Ldexp(v, exponent)
			}
			got := estimate(t, model, daily(changed)).Forecast(5)
			for i := range base.Point {
				point := math.Ldexp(got.Point[i], -exponent)
				within(t, fmt.Sprintf("2^%d: point", exponent), point, base.Point[i], 1e-9)
				within(t, "standard error", math.Ldexp(got.StdErr[i], -exponent), base.StdErr[i], 1e-9)
			}
		}
	}
}

func TestSearchFindsTheSeason(t *testing.T) {
	values := seasonal(8, 480, 24)
	fitted := estimate(t, smoothing.HoltWinters{Period: 24}, daily(values[:456]))
	next := fitted.Forecast(24)
	sum := 0.0
	for i, f := range next.Point {
		sum += math.Abs(f - values[456+i])
	}
	// The noise has deviation 1, so its mean absolute value is 0.8; a flat forecast is off by 7.
	if mae := sum / 24; mae > 1.3 {
		t.Errorf("mean absolute error %v", mae)
	}
}

func TestBadParameters(t *testing.T) {
	s := daily(seasonal(1, 50, 5))
	for name, model := range map[string]forecast.Model{
		"no period":         smoothing.HoltWinters{},
		"period 1":          smoothing.HoltWinters{Period: 1},
		"an unknown trend":  smoothing.HoltWinters{Period: 5, Trend: 7},
		"alpha above 1":     smoothing.SES{Alpha: new(1.1)},
		"beta below 0":      smoothing.Holt{Beta: new(-0.1)},
		"gamma not a value": smoothing.HoltWinters{Period: 5, Gamma: new(math.NaN())},
		"phi 0":             smoothing.Holt{Damped: true, Phi: new(0.0)},
	} {
		if _, err := model.Fit(s); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", name, err, forecast.ErrParameter)
		}
	}
	if _, err := (smoothing.HoltWinters{Period: 25}).Fit(s); !errors.Is(err, forecast.ErrTooShort) {
		t.Errorf("two seasons and nothing more: %v, want %v", err, forecast.ErrTooShort)
	}
}
