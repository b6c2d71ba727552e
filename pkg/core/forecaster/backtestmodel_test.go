package forecaster_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// waves is a demand with a cycle of an hour, and noise that no model can know.
func waves(n int) forecast.Series {
	s := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: time.Minute, Values: make([]float64, n)}
	noise := uint32(1)
	for i := range s.Values {
		noise = noise*1664525 + 1013904223
		s.Values[i] = 100 + 30*math.Sin(2*math.Pi*float64(i)/60) + float64(noise>>24)/16
	}
	return s
}

func hourly() forecaster.Config {
	return forecaster.Config{Step: time.Minute, Window: 5 * time.Minute, Seasons: []time.Duration{time.Hour}}
}

// What is calibrated alone is what the Forecaster says of that candidate along with all others.
func TestCalibratedIsTheCandidate(t *testing.T) {
	history := waves(600)
	config := hourly()
	config.Named = windowpeak.FittedModels()
	all := forecaster.New(config, forecaster.History{Series: history})
	var entry snapshot.ForecastSnapshot
	all.Describe(&entry)
	for _, c := range entry.Candidates {
		if c.Name == windowpeak.LastWeek {
			continue // The history is shorter.
		}
		alone, err := forecaster.BacktestModel{
			Config:    config,
			Candidate: c.Name,
			Horizons:  []int{1, 5, 10, 60},
		}.Fit(history)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		own := c.Windows[slices.IndexFunc(c.Windows, func(w windowpeak.Window) bool { return w.Horizon == config.Window })]
		want := own.Quantiles.At(0.95)
		if got := upperQuantile(t, alone, 5); !cmp.Equal(want, got, cmpopts.EquateApprox(1e-12, 0)) {
			t.Errorf("%s: the 0.95 quantile of the lead window is %v alone and %v among the others", c.Name, got, want)
		}
	}
}

// upperQuantile is the 0.95 quantile of the highest value of the next h steps.
func upperQuantile(t *testing.T, f forecast.Fitted, h int) float64 {
	t.Helper()
	knows, ok := f.(interface {
		MaxQuantile(h int, p float64) float64
	})
	if !ok {
		t.Fatalf("%T knows no maxima", f)
	}
	return knows.MaxQuantile(h, 0.95)
}

// Quantiles of the window peak hold about as often as they say, for a model that knows the cycle and for one that
// does not; what would be served loses no more than the last value.
func TestCalibratedHolds(t *testing.T) {
	config := hourly()
	options := backtest.Options{
		Horizons: []int{5, 15}, Quantiles: []float64{0.5, 0.9, 0.95}, First: 600, Refit: 300,
	}
	loss := map[string]float64{}
	for _, name := range []string{windowpeak.LastValue, windowpeak.HoltWinters, ""} {
		m := forecaster.BacktestModel{Config: config, Candidate: name, Horizons: options.Horizons}
		result, err := backtest.Run(waves(2400), options, m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range result.Tracks {
			for _, q := range result.Score(i).Peaks {
				if math.Abs(q.Coverage-q.Level) > 0.05 {
					t.Errorf("%s over %d steps: the %v quantile held %v", name, result.Tracks[i].Horizon, q.Level,
						q.Coverage)
				}
			}
		}
		loss[name] = result.Score(0).Peaks[2].Pinball
	}
	last := loss[windowpeak.LastValue]
	if loss[windowpeak.HoltWinters] > 0.9*last || loss[""] > 0.9*last {
		t.Errorf("losses %v, want those that know the cycle clearly below the last value's", loss)
	}
}

func TestCalibratedErrors(t *testing.T) {
	for name, horizons := range map[string][]int{
		"without the lead window": {1, 10}, "none": nil, "before now": {0, 5},
	} {
		_, err := forecaster.BacktestModel{
			Config:    hourly(),
			Candidate: windowpeak.LastValue,
			Horizons:  horizons,
		}.Fit(
			waves(100),
		)
		if !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want ErrParameter", name, err)
		}
	}
	m := forecaster.BacktestModel{Config: hourly(), Candidate: windowpeak.HoltWinters, Horizons: []int{5}}
	if _, err := m.Fit(waves(100)); !errors.Is(err, forecast.ErrTooShort) {
		t.Errorf("%v, want that less than two cycles are too short", err)
	}
	uneven := forecaster.Config{Step: 7 * time.Minute, Window: 7 * time.Minute}
	m = forecaster.BacktestModel{Config: uneven, Candidate: windowpeak.LastSeason, Horizons: []int{1}}
	if _, err := m.Fit(waves(300)); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("%v, want that a day is not a whole number of steps of seven minutes", err)
	}
	m = forecaster.BacktestModel{Config: hourly(), Candidate: "prophet", Horizons: []int{5}}
	if _, err := m.Fit(waves(300)); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("%v, want that there is no such candidate", err)
	}
	fitted, err := forecaster.BacktestModel{Config: hourly(), Horizons: []int{5}}.Fit(waves(300))
	if err != nil {
		t.Fatal(err)
	}
	if q := upperQuantile(t, fitted, 6); !math.IsNaN(q) {
		t.Errorf("%v over a window that was not asked for, want NaN", q)
	}
}

// Before the first sample nothing is forecast. A candidate that repeats a season which is not a whole number of steps never
// forecasts.
func TestNothingToForecast(t *testing.T) {
	gaps := forecast.Series{Step: 7 * time.Minute, Values: slices.Repeat([]float64{math.NaN()}, 10)}
	config := forecaster.Config{Step: 7 * time.Minute, Window: 7 * time.Minute}
	for _, name := range []string{"", windowpeak.LastValue, windowpeak.LastSeason, windowpeak.HoltWinters} {
		fitted, err := forecaster.BacktestModel{Config: config, Candidate: name, Horizons: []int{1}}.Fit(gaps)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			point := []float64{0}
			fitted.PointsTo(point)
			if q := upperQuantile(t, fitted, 1); !math.IsNaN(q) || !math.IsNaN(point[0]) {
				t.Errorf("%q forecasts %v, and the quantile %v", name, point, q)
			}
			if name != windowpeak.LastSeason && name != windowpeak.HoltWinters {
				break
			}
			fitted.Update(5)
		}
	}
}

// The selected candidate may be the regression, which forecasts the lead window only.
func TestSelectedForecastsEveryWindow(t *testing.T) {
	s := waves(1440)
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range s.Values { // Bursts of one step.
		s.Values[i] = 100 + 10*noise.NormFloat64()
		if noise.Float64() < 0.05 {
			s.Values[i] += 400
		}
	}
	forecasts := forecaster.New(hourly(), forecaster.History{Series: s})
	var entry snapshot.ForecastSnapshot
	forecasts.Describe(&entry)
	if entry.Choice.Selected != windowpeak.Regression {
		t.Fatalf("%s is selected", entry.Choice.Selected)
	}
	fitted, err := forecaster.BacktestModel{Config: hourly(), Horizons: []int{2, 5, 30}}.Fit(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []int{2, 5, 30} {
		if q := upperQuantile(t, fitted, h); !(q > 0) {
			t.Errorf("the 0.95 quantile of the peak of %d steps is %v", h, q)
		}
	}
}
