package ensemble_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/classic"
)

// Office hours: eight of 24 steps have demand, the others none. Every quantile of a night is exactly 0, none of the day is,
// and the models of intermittent demand compete.
func TestNightsOfZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 8))
	var values []float64
	for i := range 24 * 21 {
		y := 0.0
		if hour := i % 24; hour >= 9 && hour < 17 {
			y = 50 + 5*random.NormFloat64()
		}
		values = append(values, y)
	}
	fitted := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 24, Budget: brief}, values)
	direct := make([]float64, 24)
	for _, p := range []float64{0.1, 0.5, 0.9} {
		f := fitted.Forecast(24)
		quantiles := f.Quantile(p)
		fitted.QuantileTo(direct, p)
		if !slices.Equal(quantiles, direct) {
			t.Errorf("%v-quantiles %v, by QuantileTo %v", p, quantiles, direct)
		}
		for hour, q := range quantiles {
			if busy := hour >= 9 && hour < 17; busy != (q > 30) || !busy && (q != 0 || f.Point[hour] != 0) {
				t.Errorf("the %v-quantile at %d o'clock is %v, the point %v", p, hour, q, f.Point[hour])
			}
		}
	}
	if !slices.ContainsFunc(fitted.Reasons().Candidates, func(c ensemble.Candidate) bool { return c.Name == "TSB" }) {
		t.Error("no model of intermittent demand among the candidates")
	}
}

func TestPointsIsAModel(t *testing.T) {
	modeltest.Test(t, ensemble.Points{Auto: ensemble.Auto{Seasons: []int{12}, Budget: brief}})
}

// Calibration does not move the points.
func TestPointsAreThoseOfAuto(t *testing.T) {
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: brief}
	values := requests(500, 5)
	calibrated := estimate(t, auto, values[:400])
	points, err := ensemble.Points{Auto: auto}.Estimate(hourly(values[:400]...))
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]float64, 15), make([]float64, 15)
	for i := range 100 {
		points.PointsTo(got)
		calibrated.PointsTo(want)
		if !slices.Equal(got, want) {
			t.Fatalf("after %d updates: %v, with calibration %v", i, got, want)
		}
		points.Update(values[400+i])
		calibrated.Update(values[400+i])
	}
}

// What Without names takes no part, among the spare candidates of a short series too. The last value cannot be left out.
func TestWithout(t *testing.T) {
	series := hourly(requests(120, 1)...)
	kinds := func(without ...string) (out []string) {
		fitted, err := ensemble.Auto{Seasons: []int{24}, Without: without}.Estimate(series)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range fitted.Reasons().Candidates {
			if !c.TooCostly {
				out = append(out, c.Kind)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	all := kinds()
	for _, kind := range []string{"Last value", "MSTL + auto-ETS of log", "seasonal Ridge AR of log", "Holt-Winters"} {
		if !slices.Contains(all, kind) {
			t.Errorf("%q is not among %q", kind, all)
		}
	}
	want := slices.DeleteFunc(slices.Clone(all), func(kind string) bool {
		return kind == "Seasonal naive" || kind == "MSTL + auto-ETS of log"
	})
	if got := kinds("MSTL + auto-ETS of log", "Seasonal naive", "Last value"); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// On short series, where little can be learnt about its members, the ensemble is about as good as the better of its best
// two, which is not known beforehand. Rolling origin from the middle on, fitted anew every third year.
func TestClassicSeries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		season  int
		ahead   int
		atWorst float64
	}{
		{"AirPassengers", 12, 12, 1},
		{"presidents", 4, 8, 1},
		{"Nile", 0, 12, 1.05},
		{"LakeHuron", 0, 12, 1},
	} {
		s := classic.Series(t, tt.name)
		options := backtest.Options{First: s.Len() / 2, Refit: 3 * tt.ahead}
		for h := range tt.ahead {
			options.Horizons = append(options.Horizons, h+1)
		}
		auto := ensemble.Auto{Horizon: tt.ahead}
		if tt.season > 0 {
			auto.Seasons = []int{tt.season}
		}
		own := meanError(t, s, options, auto)
		best := min(meanError(t, s, options, ets.Auto{Period: tt.season}),
			meanError(t, s, options, arima.Auto{Period: tt.season}))
		t.Logf("%s: %.4g, %.3f of the better of ETS and ARIMA", tt.name, own, own/best)
		if own > tt.atWorst*best {
			t.Errorf("%s: %.3f of the better of ETS and ARIMA, want at most %v", tt.name, own/best, tt.atWorst)
		}
	}
}

// meanError is the mean absolute error over all horizons.
func meanError(t *testing.T, s forecast.Series, options backtest.Options, model forecast.Model) float64 {
	t.Helper()
	result, err := backtest.Run(s, options, model)
	if err != nil {
		t.Fatal(err)
	}
	return result.Overall().MAE
}

// Three weeks of hours with a daily cycle: what comes, what it will not pass, and by which models.
func Example() {
	values := make([]float64, 21*24)
	noise := rand.New(rand.NewPCG(1, 1))
	for i := range values {
		values[i] = 100 + 40*math.Sin(2*math.Pi*float64(i)/24) + 5*noise.NormFloat64()
	}
	series := forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
	fitted, err := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 6}.Estimate(series)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(6)
	upper := next.Quantile(0.95)
	for i, point := range next.Point {
		fmt.Printf("%s %.0f, at most %.0f\n", next.TimeAt(i).Format("15:04"), point, upper[i])
	}
	// Output:
	// 00:00 102, at most 113
	// 01:00 111, at most 122
	// 02:00 121, at most 133
	// 03:00 129, at most 140
	// 04:00 134, at most 145
	// 05:00 137, at most 148
}

// A young series has its reasons, too: nothing is known yet, and the last value stands in.
func ExampleFitted_Reasons() {
	series := forecast.Series{Step: time.Minute, Values: []float64{12, 15, 11}}
	fitted, err := ensemble.Auto{Horizon: 1}.Estimate(series)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range fitted.Reasons().Candidates[:3] {
		fmt.Printf("%s: weight %.0f, %v\n", c.Name, c.Weight[0], c.Err)
	}
	// Output:
	// Last value: weight 1, <nil>
	// SES(α=0.1): weight 0, <nil>
	// SES(α=0.4): weight 0, <nil>
}
