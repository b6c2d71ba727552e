package naive_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/testdata/classic"
)

var nan = math.NaN()

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

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestLast(t *testing.T) {
	// The steps are 2, −2 and, over a gap of two steps, 4: σ² = (4 + 4 + 16/2)/3.
	fitted := fit(t, naive.Last{}, daily(1, 3, 1, nan, 5))
	sigma := math.Sqrt(16.0 / 3)
	next := fitted.Forecast(4)
	same(t, "points", next.Point, []float64{5, 5, 5, 5})
	same(t, "standard errors", next.StdErr, []float64{sigma, sigma * math.Sqrt2, sigma * math.Sqrt(3), 2 * sigma})
	fitted.Update(nan)
	same(t, "standard errors after a gap", fitted.Forecast(1).StdErr, []float64{sigma * math.Sqrt2})
	fitted.Update(7)
	next = fitted.Forecast(1)
	same(t, "point after an update", next.Point, []float64{7})
	same(t, "standard error after an update", next.StdErr, []float64{sigma})
	if want := daily().TimeAt(7); !next.Start.Equal(want) {
		t.Errorf("starts %v, want %v", next.Start, want)
	}
}

func TestSeasonal(t *testing.T) {
	// The seasonal differences are 2, −2 and 4.
	fitted := fit(t, naive.Seasonal{Period: 3}, daily(1, 2, 3, 3, 0, 7))
	sigma := math.Sqrt((4 + 4 + 16) / 3.0)
	next := fitted.Forecast(7)
	same(t, "points", next.Point, []float64{3, 0, 7, 3, 0, 7, 3})
	two, three := sigma*math.Sqrt2, sigma*math.Sqrt(3)
	same(t, "standard errors", next.StdErr, []float64{sigma, sigma, sigma, two, two, two, three})
	fitted.Update(4)
	same(t, "points after an update", fitted.Forecast(4).Point, []float64{0, 7, 4, 0})
}

func TestSeasonalFallsBack(t *testing.T) {
	for _, c := range []struct {
		name         string
		values       []float64
		point, steps []float64
	}{
		{"a gap takes the season before", []float64{1, 2, 3, 4, nan, 6}, []float64{4, 2, 6}, []float64{1, 2, 1}},
		{"and the one before that", []float64{1, 2, 3, 4, nan, 6, 7, nan, 9}, []float64{7, 2, 9}, []float64{1, 3, 1}},
		{"a slot never seen: the last value", []float64{1, nan, 3, 4, nan, 6}, []float64{4, 6, 6}, []float64{1, 3, 1}},
		{"no last season", []float64{1, 2, 3, 2, 3, 4, nan, nan, nan}, []float64{2, 3, 4}, []float64{2, 2, 2}},
	} {
		next := fit(t, naive.Seasonal{Period: 3}, daily(c.values...)).Forecast(3)
		same(t, c.name, next.Point, c.point)
		for i, seasons := range c.steps {
			want := next.StdErr[0] * math.Sqrt(seasons/c.steps[0])
			same(t, c.name+": standard error", next.StdErr[i:i+1], []float64{want})
		}
	}
}

func TestClassicSeasonalNaive(t *testing.T) {
	r := classic.Load(t).SeasonalNaive
	s := classic.Series(t, r.Series)
	train, test := s.Slice(0, r.Train), s.Slice(r.Train, s.Len())
	points := fit(t, naive.Seasonal{Period: r.Period}, train).Forecast(test.Len()).Point
	mae, err1 := accuracy.MAE(test.Values, points)
	rmse, err2 := accuracy.RMSE(test.Values, points)
	mase, err3 := accuracy.MASE(test.Values, points, train.Values, r.Period)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	same(t, "MAE, RMSE and MASE", []float64{mae, rmse, mase}, []float64{r.MAE, r.RMSE, r.MASE})
}

// The figures are those of the competition's definition in R 4.2.2: acf, then decompose with "multiplicative".
func TestDeseasonalised(t *testing.T) {
	for _, c := range []struct {
		name, series string
		n, period    int
		want         []float64
	}{
		{"a season that ends with the series", "AirPassengers", 120, 12, []float64{
			339.541524640746, 332.431385987840, 380.531863859551, 364.255179709043, 364.100344337135, 414.058502229479,
			452.490671096946, 447.693214317687, 395.740520873523, 343.356291660275, 298.619078900600, 337, 339.541524640746,
		}},
		{"one that does not", "AirPassengers", 117, 12, []float64{
			350.522462356297, 304.851541635280, 344.033508874650, 346.628077539479, 339.369543565163, 388.473923923478,
			374.718218657312, 372.744815210697, 421.148120660721, 461.934579556462, 457.036995314791, 404, 350.522462356297,
		}},
		{"an odd period", "AirPassengers", 100, 7, []float64{
			343.372020197583, 341.482174577624, 341.391142169865, 342.595661798296, 352.147623172797, 350.097466463584, 348,
		}},
		{"no significant season", "lh", 48, 7, []float64{2.9, 2.9, 2.9}},
	} {
		s := classic.Series(t, c.series)
		model := naive.Deseasonalised{Period: c.period}
		same(t, c.name, fit(t, model, s.Slice(0, c.n)).Forecast(len(c.want)).Point, c.want)
	}
}

func TestUpdateIsRefit(t *testing.T) {
	values := []float64{1, 2, 3, nan, 0, 7, 4, nan, 8, 1, 2, nan, nan, nan}
	for _, model := range []forecast.Model{naive.Last{}, naive.Seasonal{Period: 3}} {
		whole, stepped := fit(t, model, daily(values...)), fit(t, model, daily(values[:6]...))
		for _, y := range values[6:] {
			stepped.Update(y)
		}
		a, b := whole.Forecast(5), stepped.Forecast(5)
		same(t, model.Name(), b.Point, a.Point)
		for i := range a.StdErr {
			same(t, model.Name()+": growth", []float64{b.StdErr[i] / b.StdErr[0]}, []float64{a.StdErr[i] / a.StdErr[0]})
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		model  forecast.Model
		values []float64
		want   error
	}{
		{"nothing", naive.Last{}, nil, forecast.ErrTooShort},
		{"one observation", naive.Last{}, []float64{nan, 1, nan}, forecast.ErrTooShort},
		{"infinite", naive.Last{}, []float64{1, math.Inf(1)}, forecast.ErrNotFinite},
		{"too large", naive.Last{}, []float64{1, 1e200}, forecast.ErrNotFinite},
		{"no period", naive.Seasonal{}, []float64{1, 2, 3}, forecast.ErrParameter},
		{"no period without season", naive.Deseasonalised{}, []float64{1, 2, 3}, forecast.ErrParameter},
		{"one observation without season", naive.Deseasonalised{Period: 1}, []float64{1}, forecast.ErrTooShort},
		{"one season", naive.Seasonal{Period: 3}, []float64{1, 2, 3}, forecast.ErrTooShort},
		{"no pair", naive.Seasonal{Period: 2}, []float64{1, nan, nan, 2}, forecast.ErrTooShort},
	} {
		if _, err := c.model.Fit(daily(c.values...)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range []forecast.Model{
		naive.Last{}, naive.Seasonal{Period: 3}, naive.Deseasonalised{Period: 3},
	} {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(2), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period uint8, raw []byte) {
		values := modeltest.Values(raw)
		for _, model := range []forecast.Model{
			naive.Last{},
			naive.Seasonal{Period: int(period)},
			naive.Deseasonalised{Period: int(period)},
		} {
			modeltest.Check(t, model, values)
		}
	})
}

// Two days of four steps each, the second one busier: what comes is what was last, or what was a day ago.
func Example() {
	demand := daily(10, 20, 40, 10, 12, 22, 44, 12)
	for _, model := range []forecast.Model{naive.Last{}, naive.Seasonal{Period: 4}} {
		fitted, err := model.Fit(demand)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(model.Name(), fitted.Forecast(4).Point)
	}
	// Output:
	// Last value [12 12 12 12]
	// Seasonal naive(m=4) [12 22 44 12]
}
