package modeltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Test holds a model to its promises on every hostile series.
func Test(t *testing.T, model forecast.Model) {
	t.Helper()
	for name, values := range Hostile() {
		t.Run(model.Name()+" on "+name, func(t *testing.T) { Check(t, model, values) })
	}
	t.Run(model.Name()+" without allocation", func(t *testing.T) { allocates(t, model) })
	t.Run(model.Name()+" twice", func(t *testing.T) { repeats(t, model) })
}

// Check fits a model to values a day apart and feeds it on; it fails on anything but a finite forecast or a known error.
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
	finite(t, model.Name()+" fitted", fitted)
	next := daily(values).End()
	for _, y := range []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e9, 0, math.NaN(), math.NaN(), 3} {
		fitted.Update(y)
		finite(t, fmt.Sprintf("%s after %v", model.Name(), y), fitted)
		next = next.Add(daily(nil).Step)
		if start := fitted.Forecast(1).Start; !start.Equal(next) {
			t.Fatalf("%s after %v forecasts from %v, want %v", model.Name(), y, start, next)
		}
	}
	if got := fitted.Forecast(-1); len(got.Point) != 0 {
		t.Errorf("%s: %d points for a negative horizon", model.Name(), len(got.Point))
	}
}

// Fuzz is values as bytes and back, for the corpus of a fuzz target.
func Fuzz(values []float64) []byte {
	var raw []byte
	for _, v := range values[:min(len(values), 40)] {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return raw
}

// Values reads at most 100 values from what a fuzz target is given.
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
		forecast.ErrTooShort, forecast.ErrParameter, forecast.ErrNotFinite, forecast.ErrNotPositive,
		forecast.ErrNoConvergence,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("%s: unknown error %v", model.Name(), err)
}

// finite fails on a forecast with a point or a standard error that is none, and on points that disagree with PointsTo.
func finite(t *testing.T, what string, fitted forecast.Fitted) {
	t.Helper()
	f := fitted.Forecast(30)
	points := make([]float64, len(f.Point))
	fitted.PointsTo(points)
	for i := range f.Point {
		if math.IsNaN(f.Point[i]) || math.IsInf(f.Point[i], 0) || f.Point[i] != points[i] {
			t.Fatalf("%s: point %d is %v, by PointsTo %v", what, i+1, f.Point[i], points[i])
		}
		if !(f.StdErr[i] >= 0) || math.IsInf(f.StdErr[i], 0) {
			t.Fatalf("%s: standard error %d is %v", what, i+1, f.StdErr[i])
		}
	}
	ordered(t, what, f)
}

// ordered fails on quantiles that are not finite, or that cross by more than rounding.
func ordered(t *testing.T, what string, f forecast.Forecast) {
	t.Helper()
	below := make([]float64, len(f.Point))
	for i := range below {
		below[i] = math.Inf(-1)
	}
	for _, p := range []float64{0.001, 0.05, 0.5, 0.501, 0.95, 0.999} {
		quantiles := f.Quantile(p)
		for i, q := range quantiles {
			if math.IsNaN(q) || math.IsInf(q, 0) || below[i]-q > 1e-12*math.Abs(q) {
				t.Fatalf("%s: the %v-quantile of step %d is %v, the one below it %v", what, p, i+1, q, below[i])
			}
		}
		below = quantiles
	}
}

// repeats fails where two fits to one series, led on alike, do not forecast the same to the last bit.
func repeats(t *testing.T, model forecast.Model) {
	t.Helper()
	var points, spreads [2][]float64
	for k := range points {
		fitted, err := model.Fit(daily(withGaps(noise(300), 20)))
		if err != nil {
			t.Fatal(err)
		}
		fitted.Update(90)
		f := fitted.Forecast(30)
		points[k], spreads[k] = f.Point, append(f.StdErr, f.Quantile(0.95)...)
	}
	if !slices.Equal(points[0], points[1]) || !slices.Equal(spreads[0], spreads[1]) {
		t.Errorf("%s: two fits forecast %v and %v", model.Name(), points[0], points[1])
	}
}

// same says whether two values are, where missing ones are alike.
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
