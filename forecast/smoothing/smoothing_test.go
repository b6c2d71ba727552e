package smoothing_test

import (
	"encoding/binary"
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

func reference(t *testing.T) classic.Reference {
	t.Helper()
	r, err := classic.Load()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func series(t *testing.T, name string) forecast.Series {
	t.Helper()
	s, err := classic.Series(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClassicHoltWinters(t *testing.T) {
	for _, r := range reference(t).HoltWinters {
		s := series(t, r.Series)
		found := estimate(t, smoothing.HoltWinters{Period: r.Period}, s)
		if found.SSE() > r.SSE*(1+1e-6) {
			t.Errorf("SSE %v, R finds %v", found.SSE(), r.SSE)
		}
		within(t, "alpha", found.Parameters().Alpha, r.Alpha, 1e-3)
		within(t, "beta", found.Parameters().Beta, r.Beta, 1e-3)
		within(t, "gamma", found.Parameters().Gamma, r.Gamma, 1e-3)
		fixed := estimate(t, smoothing.HoltWinters{Period: r.Period, Alpha: &r.Alpha, Beta: &r.Beta, Gamma: &r.Gamma}, s)
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

// TestClassicSES checks simple smoothing of the Nile. The reference chose its starting level; put before the series, that
// level becomes the start by convention.
func TestClassicSES(t *testing.T) {
	for _, r := range reference(t).SES {
		s := series(t, r.Series)
		s.Values = append([]float64{r.StartLevel}, s.Values...)
		fixed := estimate(t, smoothing.SES{Alpha: &r.Alpha}, s)
		within(t, "level", fixed.Level(), r.Level, 1e-8)
		within(t, "SSE", fixed.SSE()/r.SSE, 1, 1e-10)
		within(t, "alpha", estimate(t, smoothing.SES{}, s).Parameters().Alpha, r.Alpha, 1e-3)
	}
}

func TestFixedSmoothing(t *testing.T) {
	r := reference(t)
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
		"seven seasons to start": smoothing.HoltWinters{Period: 12, StartSeasons: 7, Alpha: a, Beta: b, Gamma: g},
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
		smoothing.SES{}, smoothing.Holt{}, smoothing.Holt{Damped: true}, smoothing.HoltWinters{Period: 12},
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
				within(t, fmt.Sprintf("2^%d: point", exponent), math.Ldexp(got.Point[i], -exponent), base.Point[i], 1e-9)
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
		"one start season":  smoothing.HoltWinters{Period: 5, StartSeasons: 1},
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

func models() []forecast.Model {
	return []forecast.Model{
		smoothing.SES{}, smoothing.Holt{}, smoothing.Holt{Damped: true}, smoothing.HoltWinters{Period: 2},
		smoothing.HoltWinters{Period: 7}, smoothing.HoltWinters{Period: 12, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.NoTrend, StartSeasons: 3},
	}
}

// hostile are series that break careless models.
func hostile() map[string][]float64 {
	nan := math.NaN()
	noise := seasonal(9, 120, 12)
	out := map[string][]float64{
		"nothing": nil, "only gaps": {nan, nan, nan, nan, nan, nan}, "infinite": {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
		"too large": {1, 2, 1e200, 3, 4, 5, 6, 7, 8, 9}, "two among gaps": {1, nan, nan, nan, nan, 2, nan, nan, nan},
		"30 % gaps": withGaps(noise, 3, 0.3), "90 % gaps": withGaps(noise, 3, 0.9),
		"an outage at the start": append(append([]float64(nil), noise[:3]...), append(withGaps(noise[:40], 1, 1), noise...)...),
	}
	for n := 1; n <= 6; n++ {
		out[fmt.Sprintf("%d points", n)] = noise[:n]
	}
	for name, f := range map[string]func(i int) float64{
		"constant":        func(int) float64 { return 7.3 },
		"zeros":           func(int) float64 { return 0 },
		"a line":          func(i int) float64 { return float64(i) },
		"explosive":       func(i int) float64 { return math.Exp(float64(i)) },
		"1e-300":          func(i int) float64 { return noise[i] * 1e-300 },
		"subnormal":       func(i int) float64 { return noise[i] * 1e-322 },
		"1e149":           func(i int) float64 { return noise[i] * 1e147 },
		"zeros, then one": func(i int) float64 { return float64(i / 119) },
		"a spike": func(i int) float64 {
			if i == 60 {
				return 1e9
			}
			return noise[i]
		},
	} {
		values := make([]float64, 120)
		for i := range values {
			values[i] = f(i)
		}
		out[name] = values
	}
	return out
}

// check fits a model and feeds it; it fails on anything but a finite forecast or a known error.
func check(t *testing.T, model forecast.Model, values []float64) {
	t.Helper()
	fitted, err := model.Fit(daily(values))
	if err != nil {
		for _, known := range []error{forecast.ErrTooShort, forecast.ErrNotFinite, forecast.ErrParameter} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Errorf("%s: unknown error %v", model.Name(), err)
		return
	}
	finite(t, model.Name()+" fitted", fitted.Forecast(30))
	for _, y := range []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e9, 0, math.NaN(), math.NaN(), 3} {
		fitted.Update(y)
		finite(t, fmt.Sprintf("%s after %v", model.Name(), y), fitted.Forecast(30))
	}
	if got := fitted.Forecast(-1); len(got.Point) != 0 {
		t.Errorf("%s: %d points for a negative horizon", model.Name(), len(got.Point))
	}
}

func finite(t *testing.T, what string, f forecast.Forecast) {
	t.Helper()
	for i := range f.Point {
		if math.IsNaN(f.Point[i]) || math.IsInf(f.Point[i], 0) {
			t.Fatalf("%s: point %d is %v", what, i+1, f.Point[i])
		}
		if !(f.StdErr[i] >= 0) || math.IsInf(f.StdErr[i], 0) {
			t.Fatalf("%s: standard error %d is %v", what, i+1, f.StdErr[i])
		}
	}
}

func TestHostileSeries(t *testing.T) {
	for name, values := range hostile() {
		t.Run(name, func(t *testing.T) {
			for _, model := range models() {
				check(t, model, values)
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	for _, model := range models() {
		fitted, err := model.Fit(daily(seasonal(1, 300, 12)))
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, 60)
		y := 50.0
		if n := testing.AllocsPerRun(100, func() {
			y += 0.1
			fitted.Update(y)
			fitted.Update(math.NaN())
			fitted.PointsTo(dst)
		}); n != 0 {
			t.Errorf("%s: %v allocations", model.Name(), n)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range hostile() {
		var raw []byte
		for _, v := range values[:min(len(values), 40)] {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		f.Add(uint8(2), uint8(0), raw)
	}
	f.Fuzz(func(t *testing.T, period, trend uint8, raw []byte) {
		var values []float64
		for ; len(raw) >= 8 && len(values) < 100; raw = raw[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		check(t, smoothing.SES{}, values)
		check(t, smoothing.Holt{Damped: trend%2 == 1}, values)
		check(t, smoothing.HoltWinters{Period: int(period % 30), Trend: smoothing.Trend(trend % 3)}, values)
	})
}
