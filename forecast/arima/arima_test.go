package arima_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/testdata/classic"
)

var (
	_ forecast.Model  = arima.ARIMA{}
	_ forecast.Model  = arima.Auto{}
	_ forecast.Fitted = (*arima.Fitted)(nil)
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

func estimate(t *testing.T, model arima.ARIMA, s forecast.Series) *arima.Fitted {
	t.Helper()
	fitted, err := model.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// simulate draws an ARIMA(2,d,1) around a level of 50.
func simulate(seed uint64, n, d int) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	var w1, w2, e1 float64
	for t := range out {
		e := random.NormFloat64()
		w := 0.9*w1 - 0.3*w2 + e + 0.4*e1
		w1, w2, e1 = w, w1, e
		out[t] = w
	}
	for range d {
		for t := 1; t < n; t++ {
			out[t] += out[t-1]
		}
	}
	for t := range out {
		out[t] += 50
	}
	return out
}

// withGaps is a copy with about the share of the values missing.
func withGaps(values []float64, seed uint64, share float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 2))
	out := append([]float64(nil), values...)
	for i := range out {
		if i > 3 && random.Float64() < share {
			out[i] = math.NaN()
		}
	}
	return out
}

func TestClassicFits(t *testing.T) {
	for _, r := range classic.Load(t).ARIMA {
		model := arima.ARIMA{P: r.Order[0], D: r.Order[1], Q: r.Order[2], Constant: r.Constant}
		t.Run(r.Series+" "+model.Name(), func(t *testing.T) {
			fitted := estimate(t, model, classic.Series(t, r.Series))
			if got := fitted.LogLikelihood(); got < r.LogLikelihood-1e-3 {
				t.Errorf("log-likelihood %.6f, R finds %.6f", got, r.LogLikelihood)
			}
			within(t, "AICc", fitted.AICc(), r.AICc, 2e-3)
			within(t, "sigma2", fitted.Sigma2()/r.Sigma2, 1, 1e-3)
			c := fitted.Coefficients()
			got, want := slices.Concat(c.AR, c.MA), slices.Concat(r.AR, r.MA)
			if r.Constant {
				got, want = append(got, c.Constant), append(want, r.Mean)
			}
			for i := range want {
				within(t, fmt.Sprintf("coefficient %d", i+1), got[i], want[i], math.Max(1e-3, 0.02*r.StandardErrors[i]))
			}
			next := fitted.Forecast(len(r.Forecast))
			for i, want := range r.Forecast {
				within(t, fmt.Sprintf("point %d", i+1), next.Point[i], want, 0.02*r.ForecastStdErr[i])
				within(t, fmt.Sprintf("standard error %d", i+1), next.StdErr[i]/r.ForecastStdErr[i], 1, 0.01)
			}
		})
	}
}

func fixedModel(r classic.ARIMA) arima.ARIMA {
	return arima.ARIMA{
		P: r.Order[0], D: r.Order[1], Q: r.Order[2], Constant: r.Constant,
		Fixed: &arima.Coefficients{AR: r.AR, MA: r.MA, Constant: r.Mean},
	}
}

func TestClassicLikelihoods(t *testing.T) {
	for _, r := range classic.Load(t).ARIMAFixed {
		model := fixedModel(r)
		t.Run(r.Series+" "+model.Name(), func(t *testing.T) {
			fitted := estimate(t, model, classic.Series(t, r.Series))
			// R starts differenced models from a diffuse prior, which is good to about 1e-6 of the variance.
			tolerance := 1e-6
			if r.Order[1] > 0 {
				tolerance = 1e-4
			}
			within(t, "log-likelihood", fitted.LogLikelihood(), r.LogLikelihood, tolerance)
			next := fitted.Forecast(len(r.Forecast))
			for i, want := range r.Forecast {
				within(t, "point", next.Point[i], want, 1e-5*r.ForecastStdErr[i])
				within(t, "standard error", next.StdErr[i]/r.ForecastStdErr[i], 1, 1e-5)
			}
		})
	}
}

func TestClassicOrders(t *testing.T) {
	r := classic.Load(t)
	for _, want := range r.Auto {
		fitted, err := arima.Auto{}.Estimate(classic.Series(t, want.Series))
		if err != nil {
			t.Fatal(err)
		}
		if fitted.AICc() > want.AICc+1e-3 {
			t.Errorf("%s: %s has AICc %.4f, R finds %s with %.4f",
				want.Series, fitted.Order(), fitted.AICc(), want.Model, want.AICc)
		}
	}
}

func TestDifferencedModelIsThatOfTheDifferences(t *testing.T) {
	values := classic.Series(t, "WWWusage").Values
	differences := make([]float64, len(values)-1)
	for i := range differences {
		differences[i] = values[i+1] - values[i]
	}
	whole := estimate(t, arima.ARIMA{P: 1, D: 1, Q: 1, Constant: true}, daily(values))
	inner := estimate(t, arima.ARIMA{P: 1, Q: 1, Constant: true}, daily(differences))
	within(t, "log-likelihood", whole.LogLikelihood(), inner.LogLikelihood(), 1e-8)
	within(t, "drift", whole.Coefficients().Constant, inner.Coefficients().Constant, 1e-5)
	sum := values[len(values)-1]
	points, steps := whole.Forecast(8).Point, inner.Forecast(8).Point
	for i := range points {
		sum += steps[i]
		within(t, "point", points[i], sum, 1e-4)
	}
}

func TestPartialsGoThereAndBack(t *testing.T) {
	partials := []float64{0.8, -0.5, 0.3, 0.95, -0.99}
	back, ok := arima.ToPartial(arima.FromPartial(partials))
	if !ok {
		t.Fatal("a stationary autoregression was refused")
	}
	for i := range partials {
		within(t, "partial", back[i], partials[i], 1e-10)
	}
	if _, ok := arima.ToPartial([]float64{1.2}); ok {
		t.Error("an explosive autoregression was taken")
	}
}

func TestUpdateIsRefit(t *testing.T) {
	fixed := func(d int) arima.ARIMA {
		return arima.ARIMA{P: 2, D: d, Q: 1, Constant: d < 2, Fixed: &arima.Coefficients{
			AR: []float64{0.9, -0.3}, MA: []float64{0.4}, Constant: 0.1,
		}}
	}
	seasonal := fixed(1)
	seasonal.Constant, seasonal.Fixed.Constant = false, 0
	seasonal.Seasonal = arima.Seasonal{P: 1, D: 1, Q: 1, Period: 12}
	seasonal.Fixed.SAR, seasonal.Fixed.SMA = []float64{0.2}, []float64{-0.6}
	for _, model := range []arima.ARIMA{fixed(0), fixed(1), fixed(2), seasonal} {
		for _, share := range []float64{0, 0.3} {
			values := withGaps(simulate(uint64(model.D), 300, model.D), uint64(model.D), share)
			whole := estimate(t, model, daily(values))
			stepped := estimate(t, model, daily(values[:100]))
			for _, y := range values[100:] {
				stepped.Update(y)
			}
			a, b := whole.Forecast(20), stepped.Forecast(20)
			if !a.Start.Equal(b.Start) {
				t.Errorf("%s: starts %v and %v", model.Name(), a.Start, b.Start)
			}
			for i := range a.Point {
				what := fmt.Sprintf("%s, %v missing, step %d", model.Name(), share, i+1)
				within(t, what, b.Point[i], a.Point[i], 1e-8*(1+math.Abs(a.Point[i])))
				growth := b.StdErr[i] / math.Sqrt(stepped.Sigma2())
				within(t, what+": standard error over sigma", growth, a.StdErr[i]/math.Sqrt(whole.Sigma2()),
					1e-7*growth)
			}
		}
	}
}

// daytime is an hourly series with a season of a day around an ARMA(1,0,0).
func daytime(n int) []float64 {
	random := rand.New(rand.NewPCG(24, 1))
	out := make([]float64, n)
	rest := 0.0
	for t := range out {
		rest = 0.8*rest + random.NormFloat64()
		phase := 2 * math.Pi * float64(t) / 24
		out[t] = 100 + 20*math.Sin(phase) + 8*math.Cos(2*phase) + rest
	}
	return out
}

// TestScaleAndShift: a series in other units, and where the model has a constant or a difference at another level, has the
// same forecast in those.
func TestScaleAndShift(t *testing.T) {
	values := daytime(240)
	for _, model := range []forecast.Model{
		arima.ARIMA{P: 2, Q: 1, Constant: true},
		arima.ARIMA{P: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 24}},
		arima.Auto{Period: 24},
	} {
		base := next(t, model, values)
		if again := next(t, model, values); !slices.Equal(again.Point, base.Point) ||
			!slices.Equal(again.StdErr, base.StdErr) {
			t.Errorf("%s: two fits to one series differ", model.Name())
		}
		for _, c := range []struct{ scale, shift float64 }{
			{1e-300, 0}, {1e140, 0}, {-1, 0}, {0.5, -77},
		} {
			changed := make([]float64, len(values))
			for i, v := range values {
				changed[i] = v*c.scale + c.shift
			}
			got := next(t, model, changed)
			for i := range base.Point {
				what := fmt.Sprintf("%s, %+v, step %d", model.Name(), c, i+1)
				within(t, what+": point", (got.Point[i]-c.shift)/c.scale, base.Point[i], 1e-3)
				within(t, what+": standard error", got.StdErr[i]/math.Abs(c.scale), base.StdErr[i], 1e-3)
			}
		}
	}
}

func next(t *testing.T, model forecast.Model, values []float64) forecast.Forecast {
	t.Helper()
	fitted, err := model.Fit(daily(values))
	if err != nil {
		t.Fatal(err)
	}
	return fitted.Forecast(30)
}

func TestBadParameters(t *testing.T) {
	s := daily(simulate(1, 50, 0))
	for name, model := range map[string]forecast.Model{
		"a negative order":        arima.ARIMA{P: -1},
		"three differences":       arima.ARIMA{D: 3},
		"a parabola":              arima.ARIMA{D: 2, Constant: true},
		"too few fixed":           arima.ARIMA{P: 2, Fixed: &arima.Coefficients{AR: []float64{0.1}}},
		"not stationary":          arima.ARIMA{P: 1, Fixed: &arima.Coefficients{AR: []float64{1.1}}},
		"not a number":            arima.ARIMA{P: 1, Fixed: &arima.Coefficients{AR: []float64{math.NaN()}}},
		"not a number as an MA":   arima.ARIMA{Q: 1, Fixed: &arima.Coefficients{MA: []float64{math.NaN()}}},
		"an infinite constant":    arima.ARIMA{Constant: true, Fixed: &arima.Coefficients{Constant: math.Inf(1)}},
		"a negative bound":        arima.Auto{MaxP: -1},
		"more differences than 2": arima.Auto{MaxD: 3},
	} {
		if _, err := model.Fit(s); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", name, err, forecast.ErrParameter)
		}
	}
}

func models() []forecast.Model {
	return []forecast.Model{
		arima.ARIMA{},
		arima.ARIMA{Constant: true},
		arima.ARIMA{D: 1, Constant: true},
		arima.ARIMA{P: 2, Q: 1, Constant: true},
		arima.ARIMA{P: 1, D: 1, Q: 1},
		arima.ARIMA{P: 1, D: 2, Q: 2},
		arima.ARIMA{P: 3, Q: 3},
		arima.Auto{},
		arima.ARIMA{Seasonal: arima.Seasonal{P: 1, Period: 12}, Constant: true},
		arima.ARIMA{P: 1, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 12}, Constant: true},
		arima.ARIMA{P: 2, D: 1, Q: 2, Seasonal: arima.Seasonal{D: 1, Q: 2, Period: 4}},
		arima.ARIMA{D: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 12}},
		arima.Auto{Period: 12, MaxP: 1, MaxQ: 1, MaxSeasonalP: 1, MaxSeasonalQ: 1},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func TestConstantSeriesGoesOn(t *testing.T) {
	fitted, err := arima.Auto{}.Estimate(daily(modeltest.Hostile()["constant"]))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(3)
	for i := range next.Point {
		within(t, "point", next.Point[i], 7.3, 1e-12)
		within(t, "standard error", next.StdErr[i], 0, 1e-12)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(1), uint8(1), uint8(1), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, p, d, q uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, arima.ARIMA{P: int(p % 4), D: int(d % 3), Q: int(q % 4), Constant: d%3 < 2}, values)
		modeltest.Check(t, arima.ARIMA{
			P: int(p / 4 % 2), D: int(d / 3 % 2), Q: int(q / 4 % 2), Constant: d/3%2 == 0,
			Seasonal: arima.Seasonal{P: int(p / 8 % 3), D: int(d / 6 % 2), Q: int(q / 8 % 3), Period: 2 + int(d/12%6)},
		}, values)
	})
}

// TestKeepMean has demand that is never near 0 and forecasts its mean: a start of three values (the case of
// alkaline-ml/pmdarima#572), four small values (robjhyndman/forecast#873), and one outlier among 300 values.
func TestKeepMean(t *testing.T) {
	outlier := make([]float64, 300)
	for i := range outlier {
		outlier[i] = 4 + math.Sin(float64(i*i))
	}
	outlier[150] = 3000
	for name, c := range map[string]struct {
		values    []float64
		low, high float64
	}{
		"three values":      {[]float64{99, 100, 100}, 99, 101},
		"a constant":        {[]float64{7, 7, 7}, 7, 7},
		"four small values": {[]float64{0.006, 0.005, 0.01, 0.007}, 0.005, 0.01},
		"an outlier":        {outlier, 3, 14.1},
	} {
		fitted, err := arima.Auto{KeepMean: true}.Fit(daily(c.values))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, point := range fitted.Forecast(5).Point {
			if point < c.low || point > c.high {
				t.Errorf("%s: step %d is %v, want %v to %v", name, i+1, point, c.low, c.high)
			}
		}
	}
	// Demand that returns to 0 does not keep a mean.
	zeros := []float64{0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	with, err := arima.Auto{KeepMean: true}.Fit(daily(zeros))
	if err != nil {
		t.Fatal(err)
	}
	without, err := arima.Auto{}.Fit(daily(zeros))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := with.Forecast(1).Point[0], without.Forecast(1).Point[0]; a != b {
		t.Errorf("with zeros KeepMean forecasts %v, without it %v", a, b)
	}
}
