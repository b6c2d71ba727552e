package arima_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
)

func models() []forecast.Model {
	return []forecast.Model{
		arima.ARIMA{},
		arima.ARIMA{Constant: true},
		arima.ARIMA{D: 1, Constant: true},
		arima.ARIMA{P: 2, Q: 1, Constant: true},
		arima.ARIMA{P: 1, D: 1, Q: 1},
		arima.ARIMA{P: 1, D: 2, Q: 2},
		arima.ARIMA{P: 3, Q: 3},
		arima.Auto{},
	}
}

// hostile are series that break careless models.
func hostile() map[string][]float64 {
	nan := math.NaN()
	out := map[string][]float64{
		"nothing": nil, "only gaps": {nan, nan, nan, nan, nan, nan},
		"infinite":  {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
		"too large": {1, 2, 1e200, 3, 4, 5, 6, 7, 8, 9},
	}
	for n := 1; n <= 6; n++ {
		out[fmt.Sprintf("%d points", n)] = simulate(1, n, 0)
	}
	long := func(f func(i int) float64) []float64 {
		values := make([]float64, 120)
		for i := range values {
			values[i] = f(i)
		}
		return values
	}
	noise := simulate(9, 120, 0)
	out["constant"] = long(func(int) float64 { return 7.3 })
	out["zeros"] = long(func(int) float64 { return 0 })
	out["a line"] = long(func(i int) float64 { return 0.1 * float64(i) })
	out["a parabola"] = long(func(i int) float64 { return float64(i * i) })
	out["alternating"] = long(func(i int) float64 { return float64(i%2)*2 - 1 })
	out["a sine"] = long(func(i int) float64 { return math.Sin(float64(i)) })
	out["explosive"] = long(func(i int) float64 { return math.Exp(float64(i)) })
	out["30 % gaps"] = withGaps(noise, 3, 0.3)
	out["90 % gaps"] = withGaps(noise, 3, 0.9)
	out["every other missing"] = long(func(i int) float64 {
		if i%2 == 0 {
			return nan
		}
		return noise[i]
	})
	out["a spike"] = long(func(i int) float64 {
		if i == 60 {
			return 1e9
		}
		return noise[i]
	})
	out["a step"] = long(func(i int) float64 { return float64(i / 60 * 1000) })
	out["zeros, then one"] = long(func(i int) float64 { return float64(i / 119) })
	out["1e-300"] = long(func(i int) float64 { return noise[i] * 1e-300 })
	out["subnormal"] = long(func(i int) float64 { return noise[i] * 1e-322 })
	out["1e149"] = long(func(i int) float64 { return noise[i] * 1e147 })
	out["noise in the last digit"] = long(func(i int) float64 { return 1e15 + float64(i%3)*0.125 })
	return out
}

// check fits a model and feeds it; it fails on anything but a finite forecast or a known error.
func check(t *testing.T, model forecast.Model, values []float64) {
	t.Helper()
	fitted, err := model.Fit(daily(values))
	if err != nil {
		for _, known := range []error{
			forecast.ErrTooShort, forecast.ErrParameter, forecast.ErrNotFinite, forecast.ErrNoConvergence,
		} {
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

func TestConstantSeriesGoesOn(t *testing.T) {
	fitted, err := arima.Auto{}.Estimate(daily(hostile()["constant"]))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(3)
	for i := range next.Point {
		within(t, "point", next.Point[i], 7.3, 1e-12)
		within(t, "standard error", next.StdErr[i], 0, 1e-12)
	}
}

func TestNoAllocation(t *testing.T) {
	for _, model := range models() {
		fitted, err := model.Fit(daily(withGaps(simulate(1, 300, 0), 1, 0.05)))
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
		f.Add(uint8(1), uint8(1), uint8(1), raw)
	}
	f.Fuzz(func(t *testing.T, p, d, q uint8, raw []byte) {
		var values []float64
		for ; len(raw) >= 8 && len(values) < 100; raw = raw[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		check(t, arima.ARIMA{P: int(p % 4), D: int(d % 3), Q: int(q % 4), Constant: d%3 < 2}, values)
	})
}
