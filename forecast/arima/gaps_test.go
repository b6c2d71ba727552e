package arima_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/testdata/classic"
	"github.com/forewarm/forewarm/testdata/golden"
)

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
		{P: 2, Q: 1},
		{P: 2, D: 1, Q: 1},
		{P: 2, D: 2, Q: 1},
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
			within(t, fmt.Sprintf("%s, %v missing: log-likelihood", model.Name(), share), fitted.LogLikelihood(),
				plain, 1e-6)
		}
	}
}

// TestMoreUnknownThanIsKept shows what it costs that a filter keeps no more than some unknowns apart: half of all hours
// missing is more, and the likelihood is off by less than anything that is read from it.
func TestMoreUnknownThanIsKept(t *testing.T) {
	values := simulate(7, 160, 0)
	copy(values[30:], withGaps(values[30:], 7, 0.5))
	fitted := estimate(t, arima.ARIMA{
		P: 1, D: 1, Seasonal: arima.Seasonal{D: 1, P: 1, Q: 1, Period: 24},
		Fixed: &arima.Coefficients{AR: []float64{0.5}, SAR: []float64{0.3}, SMA: []float64{-0.7}},
	}, daily(values))
	ar := product([]float64{-0.5}, spaced([]float64{0.3}, 24))
	delta := product([]float64{-1}, spaced([]float64{1}, 24))
	plain := dense(values, impulse(spaced([]float64{0.7}, 24), ar, 2000), delta)
	within(t, "log-likelihood", fitted.LogLikelihood(), plain, 0.05)
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

func TestWhitenerIsTheFilter(t *testing.T) {
	values := simulate(11, 200, 1)
	for _, model := range []arima.ARIMA{
		{P: 2, Q: 2, Constant: true},
		{P: 3, D: 1},
		{P: 1, D: 1, Q: 1, Seasonal: arima.Seasonal{P: 1, D: 1, Q: 1, Period: 12}},
		{P: 1, Q: 2, Seasonal: arima.Seasonal{D: 1, Q: 2, Period: 7}, Constant: true},
		{Q: 1, Seasonal: arima.Seasonal{P: 2, Period: 24}, Constant: true},
	} {
		fast, plain := estimate(t, model, daily(values)).Passes(daily(values))
		within(t, model.Name()+": objective", fast, plain, 1e-9)
	}
}

// TestStartWithGaps holds a fit whose differences start with missing values to R 4.2.2: arima of the logarithm with fixed
// coefficients. R's prior is the reason for the tolerances; under it the likelihood is R's.
func TestStartWithGaps(t *testing.T) {
	s := classic.Series(t, "AirPassengers")
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
		t.Errorf("its standard error is %v, that of the hour before %v; want it as wide as the series", e,
			next.StdErr[6])
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

// TestNearUnitRoot checks the start and the path of the gain where the variance of the series is thousands or millions of
// times that of its innovations, against the dense likelihood with the autocovariances in closed form.
func TestNearUnitRoot(t *testing.T) {
	values := simulate(5, 60, 1)
	for _, phi := range []float64{0.9, 0.999, 0.999999, -0.9999} {
		theta := -0.7
		scale := 1 / ((1 - phi) * (1 + phi))
		plain := gaussian(values, func(i, j int) float64 {
			lag := max(i-j, j-i)
			if lag == 0 {
				return (1 + 2*phi*theta + theta*theta) * scale
			}
			return math.Pow(phi, float64(lag-1)) * (phi + theta) * (1 + phi*theta) * scale
		})
		fitted := estimate(t, arima.ARIMA{P: 1, Q: 1, Fixed: &arima.Coefficients{
			AR: []float64{phi}, MA: []float64{theta},
		}}, daily(values))
		within(t, fmt.Sprintf("φ = %v: log-likelihood", phi), fitted.LogLikelihood(), plain, 1e-6)
	}
	near := []float64{1.98, -0.981}
	fitted := estimate(t, arima.ARIMA{P: 2, Q: 1, Fixed: &arima.Coefficients{AR: near, MA: []float64{0.4}}},
		daily(values))
	plain := dense(values, impulse([]float64{0.4}, negative(near), 5000), nil)
	within(t, "near two unit roots: log-likelihood", fitted.LogLikelihood(), plain, 1e-6)
}

func TestDifferencesAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	for name, r := range data.Tests {
		values := data.Series[name].Values
		within(t, name+" KPSS", arima.KPSS(values), r.KPSS, 1e-9)
		if got := arima.DifferencesOf(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
	}
	for name, raw := range data.AutoARIMA {
		var r goldenDifferences
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		values := data.Series[name].Values
		if got := arima.SeasonalDifferencesOf(values, data.Series[name].Frequency); got != r.NSDiffs {
			t.Errorf("%s: %d seasonal differences, R %d", name, got, r.NSDiffs)
		}
		if got := arima.DifferencesOf(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
	}
}

func TestClassicDifferences(t *testing.T) {
	for _, want := range classic.Load(t).KPSS {
		values := classic.Series(t, want.Series).Values
		within(t, want.Series+" KPSS", arima.KPSS(values), want.Statistic, 1e-9)
		if got := arima.DifferencesOf(values, 2); got != want.Differences {
			t.Errorf("%s: %d differences, R %d", want.Series, got, want.Differences)
		}
	}
	random, walk := rand.New(rand.NewPCG(1, 2)), make([]float64, 200)
	for i := 1; i < len(walk); i++ {
		walk[i] = walk[i-1] + random.NormFloat64()
	}
	if got := arima.DifferencesOf(walk, 2); got != 1 {
		t.Errorf("a random walk: %d differences, want 1", got)
	}
	// A scale or a shift of the values changes nothing.
	values := classic.Series(t, "AirPassengers").Values
	for _, scale := range []float64{1, 3e-200} {
		for i, v := range values {
			values[i] = scale * (v - 1000)
		}
		if got := arima.SeasonalDifferencesOf(values, 12); got != 1 {
			t.Errorf("AirPassengers times %v: %d seasonal differences, R 1", scale, got)
		}
	}
}

func TestDifferencesOfHostileValues(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		soundDifferences(t, name, values)
	}
}

func FuzzDifferences(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { soundDifferences(t, "fuzzed", modeltest.Values(raw)) })
}

func soundDifferences(t *testing.T, name string, values []float64) {
	t.Helper()
	statistic, d, seasonal := arima.KPSS(values), arima.DifferencesOf(values, 2), arima.SeasonalDifferencesOf(values, 7)
	if !(statistic >= 0) || math.IsInf(statistic, 0) || d < 0 || d > 2 || seasonal < 0 || seasonal > 1 {
		t.Errorf("%s: KPSS %v, %d differences, %d seasonal", name, statistic, d, seasonal)
	}
}
