// Package modeltest tests on hostile series what every forecast.Model must do. A Model must return a finite forecast, or an error that
// wraps one of the errors of package [forecast], and must never panic. Its quantiles must not cross, and must not change afterwards. It
// must be deterministic, and must accept observations without allocation.
//
//	func TestModel(t *testing.T) { modeltest.Test(t, Mine{}) }
//
//	func FuzzFit(f *testing.F) {
//		for _, values := range modeltest.Hostile() {
//			f.Add(modeltest.Fuzz(values))
//		}
//		f.Fuzz(func(t *testing.T, raw []byte) { modeltest.Check(t, Mine{}, modeltest.Values(raw)) })
//	}
package modeltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Test tests a model on every hostile series.
func Test(t *testing.T, model forecast.Model) {
	t.Helper()
	for name, values := range Hostile() {
		t.Run(model.Name()+" on "+name, func(t *testing.T) { Check(t, model, values) })
	}
	t.Run(model.Name()+" without allocation", func(t *testing.T) { allocates(t, model) })
	t.Run(model.Name()+" twice", func(t *testing.T) { repeats(t, model) })
}

// Check fits a model to values that are a day apart, and then updates it with more values. It fails if the result is neither a finite
// forecast nor a known error.
func Check(t *testing.T, model forecast.Model, values []float64) {
	t.Helper()
	given := slices.Clone(values)
	fitted, err := model.Fit(daily(given))
	if !slices.EqualFunc(given, values, same) {
		t.Errorf("%s changed the series it was fitted to", model.Name())
	}
	if err != nil {
		checkError(t, model, err)
		return
	}
	first := sound(t, model.Name()+" fitted", fitted)
	low, high := first.Quantile(minLevel), first.Quantile(1-minLevel)
	next := daily(values).End()
	for _, y := range []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e9, 0, math.NaN(), math.NaN(), 3} {
		fitted.Update(y)
		f := sound(t, fmt.Sprintf("%s after %v", model.Name(), y), fitted)
		next = next.Add(f.Step)
		if !f.Start.Equal(next) {
			t.Fatalf("%s after %v forecasts from %v, want %v", model.Name(), y, f.Start, next)
		}
	}
	if !slices.Equal(low, first.Quantile(minLevel)) || !slices.Equal(high, first.Quantile(1-minLevel)) {
		t.Errorf("%s: the quantiles of a forecast moved with what came after it", model.Name())
	}
	if got := fitted.Forecast(-1); len(got.Point) != 0 {
		t.Errorf("%s: %d points for a negative horizon", model.Name(), len(got.Point))
	}
}

// Fuzz returns values as bytes, for the corpus of a fuzz target. Values is its inverse.
func Fuzz(values []float64) []byte {
	var raw []byte
	for _, v := range values[:min(len(values), 40)] {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return raw
}

// Values reads at most 100 values from the input of a fuzz target.
func Values(raw []byte) []float64 {
	var values []float64
	for ; len(raw) >= 8 && len(values) < 100; raw = raw[8:] {
		values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	}
	return values
}

func checkError(t *testing.T, model forecast.Model, err error) {
	t.Helper()
	for _, known := range []error{
		forecast.ErrTooShort, forecast.ErrParameter, forecast.ErrNotFinite, forecast.ErrNoConvergence,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("%s: unknown error %v", model.Name(), err)
}

// ahead is the number of forecast steps that are checked.
const ahead = 30

// sound returns the forecast of the next steps. It fails if a point or a standard error is not finite, if the points differ from the result
// of PointsTo, or if the quantiles do not match the points.
func sound(t *testing.T, what string, fitted forecast.Fitted) forecast.Forecast {
	t.Helper()
	f := fitted.Forecast(ahead)
	points := make([]float64, len(f.Point))
	fitted.PointsTo(points)
	for i := range f.Point {
		if !finite(f.Point[i]) || f.Point[i] != points[i] {
			t.Fatalf("%s: point %d is %v, by PointsTo %v", what, i+1, f.Point[i], points[i])
		}
		if !(f.StdErr[i] >= 0) || !finite(f.StdErr[i]) {
			t.Fatalf("%s: standard error %d is %v", what, i+1, f.StdErr[i])
		}
	}
	ordered(t, what, f)
	return f
}

// minLevel is the level of the lowest quantile that is checked. The highest level is 1 − minLevel.
const minLevel = 0.001

// ordered fails if quantiles are not finite, or if they cross by more than a rounding error.
func ordered(t *testing.T, what string, f forecast.Forecast) {
	t.Helper()
	below := make([]float64, len(f.Point))
	for i := range below {
		below[i] = math.Inf(-1)
	}
	for _, p := range []float64{minLevel, 0.05, 0.5, 0.501, 0.95, 1 - minLevel} {
		quantiles := f.Quantile(p)
		for i, q := range quantiles {
			if !finite(q) || below[i]-q > 1e-12*math.Abs(q) {
				t.Fatalf("%s: the %v-quantile of step %d is %v, the one below it %v", what, p, i+1, q, below[i])
			}
		}
		below = quantiles
	}
}

// central fails if the median and the point are too far apart. The mean of a distribution is within one standard deviation of its median.
// central is used only on ordinary series. On a hostile series, a calibrated median may rightly differ from a point that was wrong before.
func central(t *testing.T, what string, f forecast.Forecast) {
	t.Helper()
	for i, median := range f.Quantile(0.5) {
		if off := math.Abs(median - f.Point[i]); off > f.StdErr[i] {
			t.Errorf("%s: the median of step %d is %v, the point %v with a standard error of %v",
				what, i+1, median, f.Point[i], f.StdErr[i])
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// repeats fails if two fits to the same series, with the same updates, do not have exactly the same forecasts.
func repeats(t *testing.T, model forecast.Model) {
	t.Helper()
	var points, spreads [2][]float64
	for k := range points {
		fitted, err := model.Fit(daily(withGaps(noise(300), 20)))
		if err != nil {
			t.Fatal(err)
		}
		fitted.Update(90)
		f := sound(t, model.Name(), fitted)
		central(t, model.Name(), f)
		points[k], spreads[k] = f.Point, append(f.StdErr, f.Quantile(0.95)...)
	}
	if !slices.Equal(points[0], points[1]) || !slices.Equal(spreads[0], spreads[1]) {
		t.Errorf("%s: two fits forecast %v and %v", model.Name(), points[0], points[1])
	}
}

// same reports whether two values are the same. Missing values are the same.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func allocates(t *testing.T, model forecast.Model) {
	t.Helper()
	fitted, err := model.Fit(daily(withGaps(noise(300), 20)))
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

func daily(values []float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

// length is the length of the longer hostile series.
const length = 120

// Hostile returns series that break careless models, by name.
func Hostile() map[string][]float64 {
	nan := math.NaN()
	plain := noise(length)
	out := map[string][]float64{
		"nothing":                nil,
		"only gaps":              {nan, nan, nan, nan, nan, nan},
		"infinite":               {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
		"too large":              {1, 2, 1e200, 3, 4, 5, 6, 7, 8, 9},
		"two among gaps":         {1, nan, nan, nan, nan, 2, nan, nan, nan},
		"every third missing":    withGaps(plain, 3),
		"every other missing":    withGaps(plain, 2),
		"an outage at the start": slices.Concat(plain[:3], withGaps(plain[:40], 1), plain),
	}
	for n := 1; n <= 6; n++ {
		out[fmt.Sprintf("%d points", n)] = plain[:n]
	}
	for name, f := range shapes(plain) {
		values := make([]float64, length)
		for i := range values {
			values[i] = f(i)
		}
		out[name] = values
	}
	return out
}

func shapes(plain []float64) map[string]func(i int) float64 {
	return map[string]func(i int) float64{
		"constant":        func(int) float64 { return 7.3 },
		"zeros":           func(int) float64 { return 0 },
		"zeros, then one": func(i int) float64 { return float64(i / (length - 1)) },
		"a line":          func(i int) float64 { return 0.1 * float64(i) },
		"a parabola":      func(i int) float64 { return float64(i * i) },
		"alternating":     func(i int) float64 { return float64(i%2)*2 - 1 },
		"a sine":          func(i int) float64 { return math.Sin(float64(i)) },
		"explosive":       func(i int) float64 { return math.Exp(float64(i)) },
		"a step":          func(i int) float64 { return float64(i / 60 * 1000) },
		"a spike": func(i int) float64 {
			if i == length/2 {
				return 1e9
			}
			return plain[i]
		},
		"1e-300":                  func(i int) float64 { return plain[i] * 1e-300 },
		"subnormal":               func(i int) float64 { return plain[i] * 1e-322 },
		"1e149":                   func(i int) float64 { return plain[i] * 1e147 },
		"noise in the last digit": func(i int) float64 { return 1e15 + float64(i%3)*0.125 },
	}
}

// noise returns a level with a season of 12 and independent errors.
func noise(n int) []float64 {
	random := rand.New(rand.NewPCG(9, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 + 10*math.Sin(2*math.Pi*float64(i)/12) + random.NormFloat64()
	}
	return out
}

// withGaps returns a copy with every n-th value missing.
func withGaps(values []float64, n int) []float64 {
	out := slices.Clone(values)
	for i := n - 1; i < len(out); i += n {
		out[i] = math.NaN()
	}
	return out
}
