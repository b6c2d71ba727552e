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
	for _, r := range reference(t).ARIMA {
		model := arima.ARIMA{P: r.Order[0], D: r.Order[1], Q: r.Order[2], Constant: r.Constant}
		t.Run(r.Series+" "+model.Name(), func(t *testing.T) {
			fitted := estimate(t, model, series(t, r.Series))
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
	for _, r := range reference(t).ARIMAFixed {
		model := fixedModel(r)
		t.Run(r.Series+" "+model.Name(), func(t *testing.T) {
			fitted := estimate(t, model, series(t, r.Series))
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
	r := reference(t)
	for _, want := range r.Auto {
		fitted, err := arima.Auto{}.Estimate(series(t, want.Series))
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
	values := series(t, "WWWusage").Values
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

// gaussian is the log-likelihood of a zero-mean Gaussian vector with its variance at its best, by a dense Cholesky: the
// plain way to what the filter computes.
func gaussian(values []float64, covariance func(i, j int) float64) float64 {
	n := len(values)
	lower := make([][]float64, n)
	z := make([]float64, n)
	logs, squares := 0.0, 0.0
	for i := range n {
		lower[i] = make([]float64, i+1)
		for j := range i + 1 {
			sum := covariance(i, j)
			for k := range j {
				sum -= lower[i][k] * lower[j][k]
			}
			if i == j {
				lower[i][i] = math.Sqrt(sum)
			} else {
				lower[i][j] = sum / lower[j][j]
			}
		}
		z[i] = values[i]
		for k := range i {
			z[i] -= lower[i][k] * z[k]
		}
		z[i] /= lower[i][i]
		squares += z[i] * z[i]
		logs += 2 * math.Log(lower[i][i])
	}
	size := float64(n)
	return -0.5 * (size*(math.Log(2*math.Pi*squares/size)+1) + logs)
}

// impulse is what c(B)/a(B) does to a single 1, the polynomials given without their leading 1.
func impulse(c, a []float64, n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		if k == 0 {
			out[k] = 1
		} else if k <= len(c) {
			out[k] = c[k-1]
		}
		for j := 1; j <= min(k, len(a)); j++ {
			out[k] -= a[j-1] * out[k-j]
		}
	}
	return out
}

// product is the product of two polynomials without their leading 1.
func product(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b))
	copy(out, a)
	for j, v := range b {
		out[j] += v
		for i, u := range a {
			out[i+j+1] += u * v
		}
	}
	return out
}

// spaced is the polynomial −c in Bᵖᵉʳⁱᵒᵈ.
func spaced(c []float64, period int) []float64 {
	out := make([]float64, len(c)*period)
	for i, v := range c {
		out[(i+1)*period-1] = -v
	}
	return out
}

func negative(c []float64) []float64 { return spaced(c, 1) }

// TestLikelihoodAcrossGaps checks the filter on differenced series with gaps against the dense Gaussian likelihood of
// what was observed: a value after the start is a combination of the values with which the differences start and of the
// stationary w since then.
func TestLikelihoodAcrossGaps(t *testing.T) {
	for _, model := range []arima.ARIMA{
		{P: 2, Q: 1}, {P: 2, D: 1, Q: 1}, {P: 2, D: 2, Q: 1},
		{P: 2, Q: 1, Seasonal: arima.Seasonal{P: 1, Q: 1, Period: 4}},
		{P: 2, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 4}},
		{P: 2, D: 1, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 6}},
	} {
		for _, share := range []float64{0, 0.03, 0.3} {
			model.Fixed = &arima.Coefficients{AR: []float64{0.6, -0.2}, MA: []float64{0.5}}
			seasonal, delta := model.Seasonal, []float64{}
			for range model.D {
				delta = product(delta, []float64{-1})
			}
			ar, ma := negative(model.Fixed.AR), []float64{0.5}
			if seasonal.Period > 0 {
				model.Fixed.SAR, model.Fixed.SMA = []float64{0.3}, []float64{-0.7}
				ar = product(ar, spaced([]float64{0.3}, seasonal.Period))
				ma = product(ma, spaced([]float64{0.7}, seasonal.Period))
				for range seasonal.D {
					delta = product(delta, spaced([]float64{1}, seasonal.Period))
				}
			}
			values := simulate(7, 80, model.D)
			copy(values[13:], withGaps(values[13:], 7, share))
			fitted := estimate(t, model, daily(values))
			plain := dense(values, impulse(ma, ar, 800), delta)
			within(t, fmt.Sprintf("%s, %v missing: log-likelihood", model.Name(), share), fitted.LogLikelihood(), plain, 1e-6)
		}
	}
}

// dense is the likelihood of values with differences delta of weights psi, by the covariance of all of them.
func dense(values, psi, delta []float64) float64 {
	gamma := make([]float64, len(values))
	for lag := range gamma {
		for k := 0; k+lag < len(psi); k++ {
			gamma[lag] += psi[k] * psi[k+lag]
		}
	}
	sums := impulse(nil, delta, len(values))
	start := len(delta)
	base := append([]float64(nil), values[:start]...)
	var rest []float64
	var at []int
	for i := start; i < len(values); i++ {
		next := 0.0
		for j, c := range delta {
			next -= c * base[i-1-j]
		}
		base = append(base, next)
		if !math.IsNaN(values[i]) {
			rest, at = append(rest, values[i]-next), append(at, i)
		}
	}
	return gaussian(rest, func(i, j int) float64 {
		sum := 0.0
		for a := start; a <= at[i]; a++ {
			for b := start; b <= at[j]; b++ {
				sum += sums[at[i]-a] * sums[at[j]-b] * gamma[max(a-b, b-a)]
			}
		}
		return sum
	})
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

func TestWhitenerIsTheFilter(t *testing.T) {
	values := simulate(11, 200, 1)
	for _, model := range []arima.ARIMA{
		{P: 2, Q: 2, Constant: true},
		{P: 3, D: 1},
		{P: 1, D: 1, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 12}},
		{P: 1, Q: 2, Seasonal: arima.Seasonal{D: 1, Q: 2, Period: 7}, Constant: true},
		{Q: 1, Seasonal: arima.Seasonal{P: 2, Period: 24}, Regressors: weekly()},
	} {
		fast, plain := estimate(t, model, daily(values)).Passes(daily(values))
		within(t, model.Name()+": objective", fast, plain, 1e-9)
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
	regression := fixed(0)
	regression.Regressors = weekly()
	regression.Fixed.Regression = []float64{1, -2, 3, -4, 5, -6, 0.01, 7}
	for _, model := range []arima.ARIMA{fixed(0), fixed(1), fixed(2), seasonal, regression} {
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
				within(t, what+": standard error over sigma", growth, a.StdErr[i]/math.Sqrt(whole.Sigma2()), 1e-7*growth)
			}
		}
	}
}

// TestStartWithGaps holds a fit whose differences start with missing values to R 4.2.2: arima of the logarithm with fixed
// coefficients. R's prior is the reason for the tolerances; under it the likelihood is R's.
func TestStartWithGaps(t *testing.T) {
	s := series(t, "AirPassengers")
	for i, v := range s.Values {
		s.Values[i] = math.Log(v)
	}
	for _, month := range []int{3, 8, 9, 30, 77} {
		s.Values[month-1] = math.NaN()
	}
	fitted := estimate(t, arima.ARIMA{
		D: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 12},
		Fixed: &arima.Coefficients{MA: []float64{-0.4}, SMA: []float64{-0.55}},
	}, s)
	under, sigma2 := fitted.DiffuseLogLikelihood(s, 1e6)
	within(t, "log-likelihood under R's prior", under, 233.4871839127633848, 1e-6)
	within(t, "variance under R's prior", sigma2/0.0013645591889004, 1, 1e-8)
	limit, _ := fitted.DiffuseLogLikelihood(s, 1e13)
	within(t, "log-likelihood", fitted.LogLikelihood(), limit, 1e-6)
	next := fitted.Forecast(14)
	for i, want := range map[int]float64{0: 6.11016014431391, 1: 6.05352147543908, 5: 6.36877657007056, 13: 6.14959615189171} {
		within(t, fmt.Sprintf("point %d", i+1), next.Point[i], want, 2e-6)
	}
	for i, want := range map[int]float64{0: 0.0369399627324114, 5: 0.0618123932985858, 13: 0.0964649343535310} {
		within(t, fmt.Sprintf("standard error %d", i+1), next.StdErr[i]/want, 1, 1e-4)
	}
}

func TestHourThatWasNeverSeen(t *testing.T) {
	values := make([]float64, 24*10)
	for i := range values {
		values[i] = 50 + 40*math.Sin(2*math.Pi*float64(i)/24) + float64(i%5)
		if i%24 == 7 {
			values[i] = math.NaN()
		}
	}
	next := estimate(t, arima.ARIMA{Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 24}}, daily(values)).Forecast(24)
	around := (next.Point[6] + next.Point[8]) / 2
	within(t, "the hour lies between its neighbours", next.Point[7], around, 10)
	if e := next.StdErr[7]; e < 10*next.StdErr[6] || e > 200 {
		t.Errorf("its standard error is %v, that of the hour before %v; want it as wide as the series", e, next.StdErr[6])
	}
}

func TestScaleAndShift(t *testing.T) {
	values := simulate(3, 200, 0)
	base := estimate(t, arima.ARIMA{P: 2, Q: 1, Constant: true}, daily(values)).Forecast(5)
	for _, scale := range []float64{1e-300, 1e-9, 3, 1e12, 1e140} {
		changed := make([]float64, len(values))
		for i, v := range values {
			changed[i] = v * scale
		}
		got := estimate(t, arima.ARIMA{P: 2, Q: 1, Constant: true}, daily(changed)).Forecast(5)
		for i := range base.Point {
			within(t, fmt.Sprintf("scale %g: point", scale), got.Point[i]/scale, base.Point[i], 1e-4)
			within(t, fmt.Sprintf("scale %g: standard error", scale), got.StdErr[i]/scale, base.StdErr[i], 1e-4)
		}
	}
}

func TestGapWidensAndHeals(t *testing.T) {
	fitted := estimate(t, arima.ARIMA{P: 1, D: 1}, daily(simulate(5, 200, 1)))
	before := fitted.Forecast(4)
	fitted.Update(math.NaN())
	after := fitted.Forecast(3)
	for i := range after.Point {
		within(t, "a gap's point is the former next one", after.Point[i], before.Point[i+1], 1e-9)
		within(t, "and so its standard error", after.StdErr[i], before.StdErr[i+1], 1e-9)
	}
	fitted.Update(60)
	fitted.Update(61)
	fitted.Update(62)
	within(t, "three observations later", fitted.Forecast(1).StdErr[0], before.StdErr[0], 1e-6)
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
