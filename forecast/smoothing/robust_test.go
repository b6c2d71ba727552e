package smoothing_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

func models() []forecast.Model {
	return []forecast.Model{
		smoothing.SES{},
		smoothing.Holt{},
		smoothing.Holt{Damped: true},
		smoothing.HoltWinters{Period: 2},
		smoothing.HoltWinters{Period: 7},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.NoTrend, StartSeasons: 3},
	}
}

// hostile are series that break careless models.
func hostile() map[string][]float64 {
	nan := math.NaN()
	noise := seasonal(9, 120, 12)
	out := map[string][]float64{
		"nothing": nil, "only gaps": {nan, nan, nan, nan, nan, nan},
		"infinite":  {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
		"too large": {1, 2, 1e200, 3, 4, 5, 6, 7, 8, 9}, "two among gaps": {1, nan, nan, nan, nan, 2, nan, nan, nan},
		"30 % gaps": withGaps(noise, 3, 0.3), "90 % gaps": withGaps(noise, 3, 0.9),
		"an outage at the start": slices.Concat(noise[:3], withGaps(noise[:40], 1, 1), noise),
	}
	for n := 1; n <= 6; n++ {
		out[fmt.Sprintf("%d points", n)] = noise[:n]
	}
	for name, f := range map[string]func(i int) float64{
		"constant":        func(int) float64 { return 7.3 },
		"zeros":           func(int) float64 { return 0 },
		"a line":          func(i int) float64 { return float64(i) },
		"explosive":       func(i int) float64 { return math.Exp(float64(i)) },
		"1e-300":          func(i int) float64 { return noise[i] * 1e-300 },
		"subnormal":       func(i int) float64 { return noise[i] * 1e-322 },
		"1e149":           func(i int) float64 { return noise[i] * 1e147 },
		"zeros, then one": func(i int) float64 { return float64(i / 119) },
		"a spike": func(i int) float64 {
			if i == 60 {
				return 1e9
			}
			return noise[i]
		},
	} {
		values := make([]float64, 120)
		for i := range values {
			values[i] = f(i)
		}
		out[name] = values
	}
	return out
}

// check fits a model and feeds it; it fails on anything but a finite forecast or a known error.
func check(t *testing.T, model forecast.Model, values []float64) {
	t.Helper()
	fitted, err := model.Fit(daily(values))
	if err != nil {
		for _, known := range []error{forecast.ErrTooShort, forecast.ErrNotFinite, forecast.ErrParameter} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Errorf("%s: unknown error %v", model.Name(), err)
		return
	}
	finite(t, model.Name()+" fitted", fitted.Forecast(30))
	for _, y := range []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e9, 0, math.NaN(), math.NaN(), 3} {
		fitted.Update(y)
		finite(t, fmt.Sprintf("%s after %v", model.Name(), y), fitted.Forecast(30))
	}
	if got := fitted.Forecast(-1); len(got.Point) != 0 {
		t.Errorf("%s: %d points for a negative horizon", model.Name(), len(got.Point))
	}
}

func finite(t *testing.T, what string, f forecast.Forecast) {
	t.Helper()
	for i := range f.Point {
		if math.IsNaN(f.Point[i]) || math.IsInf(f.Point[i], 0) {
			t.Fatalf("%s: point %d is %v", what, i+1, f.Point[i])
		}
		if !(f.StdErr[i] >= 0) || math.IsInf(f.StdErr[i], 0) {
			t.Fatalf("%s: standard error %d is %v", what, i+1, f.StdErr[i])
		}
	}
}

func TestHostileSeries(t *testing.T) {
	for name, values := range hostile() {
		t.Run(name, func(t *testing.T) {
			for _, model := range models() {
				check(t, model, values)
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	for _, model := range models() {
		fitted, err := model.Fit(daily(seasonal(1, 300, 12)))
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
}

func FuzzFit(f *testing.F) {
	for _, values := range hostile() {
		var raw []byte
		for _, v := range values[:min(len(values), 40)] {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
		f.Add(uint8(2), uint8(0), raw)
	}
	f.Fuzz(func(t *testing.T, period, trend uint8, raw []byte) {
		var values []float64
		for ; len(raw) >= 8 && len(values) < 100; raw = raw[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		check(t, smoothing.SES{}, values)
		check(t, smoothing.Holt{Damped: trend%2 == 1}, values)
		check(t, smoothing.HoltWinters{Period: int(period % 30), Trend: smoothing.Trend(trend % 3)}, values)
	})
}
