package ensemble_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func hourly(values ...float64) forecast.Series {
	return forecast.Series{
		Start: time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values,
	}
}

// requests are counts whose rate has a day of 24 steps and wanders.
func requests(n int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 4))
	out := make([]float64, n)
	drift := 0.0
	for i := range out {
		drift = 0.95*drift + 0.1*random.NormFloat64()
		rate := 100 * math.Exp(0.6*math.Sin(2*math.Pi*float64(i)/24)+drift)
		out[i] = math.Round(math.Max(0, rate+math.Sqrt(rate)*random.NormFloat64()))
	}
	return out
}

func estimate(t *testing.T, auto ensemble.Auto, values []float64) forecast.Fitted {
	t.Helper()
	fitted, err := auto.Fit(hourly(values...))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

func TestModel(t *testing.T) {
	modeltest.Test(t, ensemble.Auto{})
	modeltest.Test(t, ensemble.Auto{Seasons: []int{4, 12}, Horizon: 24})
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, ensemble.Auto{Seasons: []int{4}, Horizon: 6}, values)
		bounded(t, "fuzz", ensemble.Auto{Seasons: []int{4}, Horizon: 6}, values)
	})
}

func TestErrors(t *testing.T) {
	gap := math.NaN()
	for name, tt := range map[string]struct {
		auto   ensemble.Auto
		values []float64
		want   error
	}{
		"nothing":                  {ensemble.Auto{}, nil, forecast.ErrTooShort},
		"gaps alone":               {ensemble.Auto{}, []float64{gap, gap, gap}, forecast.ErrTooShort},
		"infinite":                 {ensemble.Auto{}, []float64{1, math.Inf(1)}, forecast.ErrNotFinite},
		"a horizon below 0":        {ensemble.Auto{Horizon: -1}, []float64{1, 2}, forecast.ErrParameter},
		"a season of one step":     {ensemble.Auto{Seasons: []int{1}}, []float64{1, 2}, forecast.ErrParameter},
		"seasons that descend":     {ensemble.Auto{Seasons: []int{168, 24}}, []float64{1, 2}, forecast.ErrParameter},
		"one value is a beginning": {ensemble.Auto{}, []float64{gap, 7}, nil},
	} {
		if _, err := tt.auto.Fit(hourly(tt.values...)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A series that is too short to compare models, or that never moves, is forecast by its last value.
func TestLastValue(t *testing.T) {
	for _, n := range []int{1, 2, 5, 11, 100} {
		f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 3}, slices.Repeat([]float64{7}, n)).Forecast(3)
		if diff := cmp.Diff([]float64{7, 7, 7}, f.Point); diff != "" {
			t.Errorf("%d values (-want +got)\n%s", n, diff)
		}
	}
}

// bounded fails on a quantile that lies more than the range of the series beyond it, or below 0 if the series never was.
func bounded(t *testing.T, name string, auto ensemble.Auto, values []float64) {
	t.Helper()
	fitted, err := auto.Fit(hourly(values...))
	if err != nil {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, y := range values {
		if !math.IsNaN(y) {
			low, high = min(low, y), max(high, y)
		}
	}
	least := low - (high - low)
	if low >= 0 {
		least = max(least, 0)
	}
	for _, p := range []float64{0.001, 0.05, 0.5, 0.95, 0.975, 0.999} {
		for i, q := range fitted.Forecast(max(auto.Horizon, 12)).Quantile(p) {
			if !(q >= least && q <= high+(high-low)) {
				t.Errorf(
					"%s: the %v-quantile of step %d is %v, the values lie between %v and %v",
					name,
					p,
					i+1,
					q,
					low,
					high,
				)
			}
		}
	}
}

// odd are histories that made quantiles explode, or might.
func odd() map[string][]float64 {
	doubled := requests(96, 3)
	doubled[95] *= 2
	quiet := make([]float64, 24*14) // Demand in office hours, and none at night.
	for i := range quiet {
		if hour := i % 24; hour >= 8 && hour < 18 {
			quiet[i] = 100 + float64(i*i%17)
		}
	}
	launch := append(make([]float64, 300), 5, 40, 200, 700)
	growth := make([]float64, 200)
	for i := range growth {
		growth[i] = math.Exp(float64(i) / 20)
	}
	return map[string][]float64{
		// The values of trnnick/tsintermittent#2, of which the 95 % quantile was 2.8e27.
		"zeros, then 2 and 18": append(make([]float64, 56), 2, 18),
		"the last one doubled": doubled,
		"nights of zeros":      quiet,
		"a launch":             launch,
		"growth":               growth,
		"all zero":             make([]float64, 200),
		"three values":         {1, 2, 900},
		"long gaps": slices.Concat(
			requests(100, 8),
			slices.Repeat([]float64{math.NaN()}, 90),
			requests(30, 9),
		),
		"an outage at the end": slices.Concat(requests(300, 8), make([]float64, 12)),
	}
}

func TestQuantilesStayWithinWhatTheSeriesHasShown(t *testing.T) {
	series := odd()
	maps.Copy(series, modeltest.Hostile())
	for name, values := range series {
		for _, auto := range []ensemble.Auto{
			{Horizon: 12}, {Seasons: []int{12}, Horizon: 12}, {Seasons: []int{24, 168}, Horizon: 168},
		} {
			bounded(t, fmt.Sprintf("%s, %s", name, auto.Name()), auto, values)
		}
	}
}

// Quantiles above the median are more than 0 after demand within the last season, and quantiles do not cross.
func TestQuantilesAboveTheMedianAreNotZero(t *testing.T) {
	for name, values := range odd() {
		if name == "all zero" {
			continue
		}
		f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 24}, values).Forecast(48)
		below := f.Quantile(0.01)
		for _, p := range []float64{0.1, 0.3, 0.5, 0.51, 0.8, 0.95, 0.99} {
			quantiles := f.Quantile(p)
			for i, q := range quantiles {
				if p > 0.5 && !(q > 0) {
					t.Errorf("%s: the %v-quantile of step %d is %v", name, p, i+1, q)
				}
				if q < below[i] {
					t.Errorf("%s: the %v-quantile of step %d is %v, a lower one %v", name, p, i+1, q, below[i])
				}
			}
			below = quantiles
		}
	}
}

// A source that was down until now does not make the models unknown, and a season is used as soon as it is there twice.
func TestSeasonIsFound(t *testing.T) {
	day := func(n int) (out []float64) {
		for i := range n {
			out = append(out, 100+80*math.Sin(2*math.Pi*float64(i)/24))
		}
		return out
	}
	for name, values := range map[string][]float64{
		"down":     append(day(240), slices.Repeat([]float64{math.NaN()}, 120)...),
		"65 hours": day(65), "72 hours": day(72), "73 hours": day(73),
	} {
		points := estimate(t, ensemble.Auto{Seasons: []int{24, 168}, Horizon: 24}, values).Forecast(24).Point
		if swing := slices.Max(points) - slices.Min(points); swing < 140 {
			t.Errorf("%s: the forecast moves by %.0f, want about 160", name, swing)
		}
	}
}

// Nights without demand are 0 up to the median, and rare counts are, too.
func TestZeros(t *testing.T) {
	f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 24}, odd()["nights of zeros"]).Forecast(24)
	for i, point := range f.Point {
		if night := i < 8 || i >= 18; night != (point == 0) {
			t.Errorf("hour %d is %v", i, point)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	rare := make([]float64, 600)
	for i := range rare {
		if random.Float64() < 0.1 {
			rare[i] = 1 + float64(random.IntN(3))
		}
	}
	f = estimate(t, ensemble.Auto{Horizon: 12}, rare).Forecast(12)
	upper := f.Quantile(0.975)
	for i, point := range f.Point {
		if point != 0 || upper[i] < 0.5 || upper[i] > 6 {
			t.Errorf("step %d of rare counts is %v, at most %v", i+1, point, upper[i])
		}
	}
}

// Two lives alike are alike to the bit.
func TestDeterministic(t *testing.T) {
	values := requests(600, 1)
	auto := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 24}
	one, other := estimate(t, auto, values[:560]), estimate(t, auto, slices.Clone(values[:560]))
	for _, y := range values[560:] {
		one.Update(y)
		other.Update(y)
	}
	a, b := one.Forecast(30), other.Forecast(30)
	if diff := cmp.Diff(a.Quantile(0.95), b.Quantile(0.95)); diff != "" {
		t.Errorf("quantiles\n%s", diff)
	}
	if want := hourly(values...).End(); !a.Start.Equal(want) {
		t.Errorf("starts at %s, want %s", a.Start, want)
	}
}

// A day and a week ahead, with both seasons, from four weeks of hours.
func TestFarHorizons(t *testing.T) {
	values := make([]float64, 35*24)
	random := rand.New(rand.NewPCG(3, 3))
	for i := range values {
		hour, day := i%24, i/24%7
		values[i] = 20 + 2*random.NormFloat64()
		if day < 5 && hour >= 8 && hour < 18 {
			values[i] += 100
		}
	}
	past := values[:28*24]
	for _, horizon := range []int{24, 168} {
		f := estimate(t, ensemble.Auto{Seasons: []int{24, 168}, Horizon: horizon}, past).Forecast(horizon)
		off, within := 0.0, 0.0
		upper := f.Quantile(0.95)
		for i := range horizon {
			off += math.Abs(f.Point[i]-values[len(past)+i]) / float64(horizon)
			if values[len(past)+i] <= upper[i] {
				within++
			}
		}
		if off > 5 || within < 0.85*float64(horizon) {
			t.Errorf("horizon %d: mean absolute error %.1f, want at most 5; %v of the values within the 95 %% quantile",
				horizon, off, within)
		}
	}
}

// The 95 % quantile holds for about 95 % of the values, live, between two fits.
func TestCoverage(t *testing.T) {
	values := requests(3000, 5)
	for _, h := range []int{1, 12} {
		f := estimate(t, ensemble.Auto{Seasons: []int{24}}, values[:1000])
		within, n := 0, 0
		for i := 1000; i+h <= len(values); i++ {
			if values[i+h-1] <= f.Forecast(h).Quantile(0.95)[h-1] {
				within++
			}
			n++
			f.Update(values[i])
		}
		if coverage := float64(within) / float64(n); coverage < 0.92 || coverage > 0.98 {
			t.Errorf("%d steps ahead: coverage %.3f", h, coverage)
		}
	}
}

// A long history is cut: a fit to 100,000 values takes no longer than one to 5,000.
func TestLongHistory(t *testing.T) {
	values := requests(100_000, 6)
	auto := ensemble.Auto{Seasons: []int{24, 168}}
	cut, whole := estimate(t, auto, values[95_000:]).Forecast(12), estimate(t, auto, values).Forecast(12)
	if diff := cmp.Diff(cut.Point, whole.Point); diff != "" {
		t.Errorf("older values than the newest 5000 change the forecast:\n%s", diff)
	}
}
