package backtest_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/testdata/classic"
)

var nan = math.NaN()

func hourly(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
}

func ramp(n int) forecast.Series {
	s := hourly()
	for i := range n {
		s.Values = append(s.Values, float64(i))
	}
	return s
}

func passengers(t *testing.T) forecast.Series {
	t.Helper()
	s := classic.Series(t, "AirPassengers")
	return s
}

func run(t *testing.T, s forecast.Series, o backtest.Options, model forecast.Model) backtest.Result {
	t.Helper()
	result, err := backtest.Run(s, o, model)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// On a line the last value is behind by the horizon, at every origin.
func TestScoresOnALine(t *testing.T) {
	o := backtest.Options{Horizons: []int{3, 1}, Quantiles: []float64{0.9, 0.1, 0.5}, First: 4}
	result := run(t, ramp(12), o, naive.Last{})
	if result.Model != "Last value" || result.Fits != 1 || result.Origins != 6 {
		t.Errorf("%s fitted %d times, %d origins; want once, 6", result.Model, result.Fits, result.Origins)
	}
	got := result.Score(0)
	// σ is 1, and so the standard error at the horizon √3: the truth lies √3 of them above.
	z := 1.2815515655446004 * math.Sqrt(3)
	want := backtest.Score{
		Horizon: 3, Count: 6, MAE: 3, RMSE: 3, MASE: 3, SMAPE: got.SMAPE,
		Quantiles: []backtest.QuantileScore{
			{Level: 0.9, Pinball: 0.9 * (3 - z)}, {Level: 0.1, Pinball: 0.1 * (3 + z)}, {Level: 0.5, Pinball: 1.5},
		},
		Peaks: []backtest.QuantileScore{
			{Level: 0.9, Pinball: 0.9 * (3 - z)},
			{Level: 0.1, Pinball: 0.1 * (3 + z/math.Sqrt(3))},
			{Level: 0.5, Pinball: 1.5},
		},
		Intervals: []backtest.IntervalScore{{Level: 0.8, Winkler: 2*z + 10*(3-z)}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("horizon 3 (-want +got):\n%s", diff)
	}
	if got := result.Score(1).MAE; got != 1 {
		t.Errorf("MAE at horizon 1 = %v, want 1", got)
	}
	if got := result.Overall(); math.Abs(got.MAE-2) > 1e-12 || got.Count != 12 || got.Horizon != 0 {
		t.Errorf("overall MAE %v of %d at %d, want 2 of 12 at 0", got.MAE, got.Count, got.Horizon)
	}
}

// The plain way: at each origin a model that was fitted at the fold's first one and updated since.
func TestAgainstThePlainLoop(t *testing.T) {
	s := passengers(t)
	model := smoothing.HoltWinters{Period: 12}
	o := backtest.Options{Horizons: []int{2, 5}, First: 60, Stride: 2, Refit: 9, Window: 48}
	result := run(t, s, o, model)
	for i := range result.Origins {
		origin := 60 + 2*i
		fold := 60 + 8*(i/4)
		fitted, err := model.Fit(s.Slice(fold-48, fold))
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range s.Values[fold:origin] {
			fitted.Update(y)
		}
		next := fitted.Forecast(5)
		for k, track := range result.Tracks {
			if track.Point[i] != next.Point[track.Horizon-1] || track.Actual[i] != s.Values[origin+track.Horizon-1] {
				t.Errorf("origin %d, horizon %d: %v for %v, want %v", origin, o.Horizons[k],
					track.Point[i], track.Actual[i], next.Point[track.Horizon-1])
			}
		}
	}
	if result.Origins != 40 || result.Fits != 10 {
		t.Errorf("%d origins, %d fits; want 40 and 10", result.Origins, result.Fits)
	}
}

// R 4.2.2, forecast 8.20: tsCV(AirPassengers, rwf and snaive, h = 12, initial = 59), the 73 origins with all horizons.
func TestAgainstR(t *testing.T) {
	o := backtest.Options{Horizons: []int{1, 6, 12}, First: 60, Refit: 7, Period: 12}
	for _, want := range []struct {
		model     forecast.Model
		mae, rmse []float64
	}{
		{
			naive.Last{},
			[]float64{31.7808219178082, 76.6849315068493, 39.3835616438356},
			[]float64{39.0096580945993, 92.7933334875196, 42.9512307062101},
		},
		{
			naive.Seasonal{Period: 12},
			[]float64{34.6712328767123, 37.5753424657534, 39.3835616438356},
			[]float64{38.9845420718000, 41.2468346647717, 42.9512307062101},
		},
	} {
		result := run(t, passengers(t), o, want.model)
		for h := range o.Horizons {
			got := result.Score(h)
			if math.Abs(got.MAE-want.mae[h]) > 1e-11 || math.Abs(got.RMSE-want.rmse[h]) > 1e-11 || got.Count != 73 {
				t.Errorf("%s, horizon %d: MAE %v, RMSE %v of %d; want %v and %v of 73", result.Model,
					got.Horizon, got.MAE, got.RMSE, got.Count, want.mae[h], want.rmse[h])
			}
		}
	}
}

// Folds that are played at the same time and backwards give the same bits.
func TestExecutor(t *testing.T) {
	s := passengers(t)
	o := backtest.Options{Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 36, Refit: 6, Period: 12}
	want := run(t, s, o, smoothing.HoltWinters{Period: 12})
	o.Each = func(n int, fold func(i int)) {
		var all sync.WaitGroup
		for i := n - 1; i >= 0; i-- {
			all.Go(func() { fold(i) })
		}
		all.Wait()
	}
	got := run(t, s, o, smoothing.HoltWinters{Period: 12})
	if diff := cmp.Diff(want.Tracks, got.Tracks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A gap is not scored, and leaves the highest value of its window unknown.
func TestGaps(t *testing.T) {
	o := backtest.Options{Horizons: []int{1, 2}, Quantiles: []float64{0.5}, First: 3}
	result := run(t, hourly(1, 2, 3, 5, nan, 4, 4), o, naive.Last{})
	want := []backtest.Track{
		{
			Horizon: 1, Actual: []float64{5, nan, 4}, Peak: []float64{5, nan, 4}, Point: []float64{3, 5, 5},
			Quantile: [][]float64{{3, 5, 5}}, PeakQuantile: [][]float64{{3, 5, 5}},
		},
		{
			Horizon: 2, Actual: []float64{nan, 4, 4}, Peak: []float64{nan, nan, 4}, Point: []float64{3, 5, 5},
			Quantile: [][]float64{{3, 5, 5}}, PeakQuantile: [][]float64{{3, 5, 5}},
		},
	}
	if diff := cmp.Diff(want, result.Tracks, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := result.Score(1); got.Count != 2 || got.MAE != 1 || got.Peaks[0].Coverage != 1 {
		t.Errorf("horizon 2: %+v", got)
	}
}

func TestWhatCannotBeTold(t *testing.T) {
	o := backtest.Options{Horizons: []int{1}, Quantiles: []float64{0.5}, First: 3}
	if got := run(t, hourly(2, 2, 2, nan, nan), o, naive.Last{}).Score(0); got.Count != 0 || !math.IsNaN(got.MAE) ||
		!math.IsNaN(got.Quantiles[0].Coverage) {
		t.Errorf("only gaps after the first origin: %+v", got)
	}
	if got := run(t, hourly(2, 2, 2, 3), o, naive.Last{}).Score(0); got.MAE != 1 || !math.IsNaN(got.MASE) {
		t.Errorf("constant training: %+v", got)
	}
}

// peak is a last value that claims to know the window peak.
type peak struct{ forecast.Fitted }

func (peak) Name() string { return "Peak" }

func (peak) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := naive.Last{}.Fit(s)
	return peak{fitted}, err
}

func (peak) MaxQuantile(h int, p float64) float64 { return 100*float64(h) + p }

func TestModelThatKnowsTheMaximum(t *testing.T) {
	o := backtest.Options{Horizons: []int{2}, Quantiles: []float64{0.5}, First: 3}
	track := run(t, ramp(6), o, peak{}).Tracks[0]
	if diff := cmp.Diff([][]float64{{200.5, 200.5}}, track.PeakQuantile); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	good := backtest.Options{Horizons: []int{1}, First: 3}
	for _, c := range []struct {
		name   string
		change func(*backtest.Options)
		want   error
	}{
		{"no horizon", func(o *backtest.Options) { o.Horizons = nil }, forecast.ErrParameter},
		{"horizon 0", func(o *backtest.Options) { o.Horizons = []int{0} }, forecast.ErrParameter},
		{"quantile NaN", func(o *backtest.Options) { o.Quantiles = []float64{nan} }, forecast.ErrParameter},
		{"quantile 1", func(o *backtest.Options) { o.Quantiles = []float64{1} }, forecast.ErrParameter},
		{"no origin", func(o *backtest.Options) { o.First = 0 }, forecast.ErrParameter},
		{"a negative stride", func(o *backtest.Options) { o.Stride = -1 }, forecast.ErrParameter},
		{"a negative refit", func(o *backtest.Options) { o.Refit = -1 }, forecast.ErrParameter},
		{"a negative window", func(o *backtest.Options) { o.Window = -1 }, forecast.ErrParameter},
		{"a negative period", func(o *backtest.Options) { o.Period = -1 }, forecast.ErrParameter},
		{"a horizon beyond the end", func(o *backtest.Options) { o.Horizons = []int{3} }, forecast.ErrTooShort},
		{"a fit that fails", func(o *backtest.Options) { o.First = 1 }, forecast.ErrTooShort},
	} {
		o := good
		c.change(&o)
		if _, err := backtest.Run(ramp(5), o, naive.Last{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Whatever the values are, a backtest of the last value is a score or an error, and its counts add up.
func FuzzRun(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(3), uint8(2), uint8(4), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, first, stride, refit uint8, raw []byte) {
		s := hourly(modeltest.Values(raw)...)
		o := backtest.Options{
			Horizons: []int{1, 4}, Quantiles: []float64{0.1, 0.9},
			First: int(first), Stride: int(stride), Refit: int(refit),
		}
		result, err := backtest.Run(s, o, naive.Last{})
		if err != nil {
			return
		}
		sum := 0
		for i := range result.Tracks {
			sum += result.Score(i).Count
		}
		if got := result.Overall().Count; got != sum || sum > 2*result.Origins {
			t.Errorf("%d values overall, %d by horizon, %d origins", got, sum, result.Origins)
		}
	})
}

// How well does Holt-Winters foresee the airline's passengers a month and a year ahead, fitted once a year?
func Example() {
	series, err := classic.Read("AirPassengers")
	if err != nil {
		fmt.Println(err)
		return
	}
	options := backtest.Options{
		Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 60, Refit: 12, Period: 12,
	}
	for _, model := range []forecast.Model{smoothing.HoltWinters{Period: 12}, naive.Seasonal{Period: 12}} {
		result, err := backtest.Run(series, options, model)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range result.Tracks {
			score := result.Score(i)
			fmt.Printf("%-26s h=%-2d  MASE %.2f  90 %% interval holds %.0f %%\n",
				result.Model, score.Horizon, score.MASE, 100*score.Intervals[0].Coverage)
		}
	}
	// Output:
	// Holt-Winters(m=12)         h=1   MASE 0.48  90 % interval holds 78 %
	// Holt-Winters(m=12)         h=12  MASE 0.94  90 % interval holds 78 %
	// Seasonal naive(m=12)       h=1   MASE 1.41  90 % interval holds 77 %
	// Seasonal naive(m=12)       h=12  MASE 1.60  90 % interval holds 64 %
}
