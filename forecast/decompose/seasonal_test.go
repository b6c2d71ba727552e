package decompose_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/transform"
	"github.com/forewarm/forewarm/testdata/golden"
)

func hourly(values []float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
}

// Two seasons at once, each of which goes on; the last value knows nothing of them.
func ExampleSeasonal() {
	var values []float64
	for i := range 48 {
		values = append(values, 100+[]float64{-10, 0, 10, 0}[i%4]+[]float64{0, 0, 0, 30, 0, 0, 0, -30}[i%8])
	}
	fitted, err := decompose.Seasonal{Periods: []int{4, 8}, Model: naive.Last{}}.Fit(hourly(values))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f\n", fitted.Forecast(8).Point)
	// Output: [90 100 110 130 90 100 110 70]
}

func seasonals() []forecast.Model {
	return []forecast.Model{
		decompose.Seasonal{Periods: []int{2}, Model: naive.Last{}},
		decompose.Seasonal{Periods: []int{7, 12}, Model: smoothing.SES{}},
		decompose.Seasonal{Periods: []int{24}, Model: smoothing.Holt{Damped: true}},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range seasonals() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(3), uint8(8), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, one, other uint8, raw []byte) {
		modeltest.Check(t, decompose.Seasonal{Periods: []int{int(one), int(other)}, Model: naive.Last{}},
			modeltest.Values(raw))
	})
}

// The figures are R's stlf with an exponential smoothing of the level, whose smoothing parameter comes out 1: the last
// seasonally adjusted value with the last seasons.
func TestSeasonalAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	fitted, err := decompose.Seasonal{Periods: []int{48, 336}, Model: smoothing.SES{}}.
		Fit(hourly(data.values("taylor_4w")))
	if err != nil {
		t.Fatal(err)
	}
	// The load is about 30,000; R's smoothing parameter stops at 0.9999.
	agree(t, "points", fitted.Forecast(48).Point, data.STLF.Mean, 0.1)
}

// After an update the seasons are one step on, gap or not.
func TestSeasonsCarryOn(t *testing.T) {
	y := make([]float64, 60)
	for i := range y {
		y[i] = []float64{1, 5, 9}[i%3]
	}
	fitted, err := decompose.Seasonal{Periods: []int{3}, Model: naive.Last{}}.Fit(hourly(y))
	if err != nil {
		t.Fatal(err)
	}
	fitted.Update(1)
	agree(t, "one step on", fitted.Forecast(3).Point, []float64{5, 9, 1}, 1e-9)
	fitted.Update(math.NaN())
	agree(t, "over a gap", fitted.Forecast(3).Point, []float64{9, 1, 5}, 1e-9)
	fitted.Update(11)
	next := fitted.Forecast(3)
	agree(t, "a level two higher", next.Point, []float64{3, 7, 11}, 1e-9)
	if want := hourly(y).TimeAt(63); !next.Start.Equal(want) {
		t.Errorf("starts at %s, want %s", next.Start, want)
	}
}

// Forecasts scale and shift with the series.
func TestSeasonalMovesWithTheSeries(t *testing.T) {
	values := load(24 * 30)
	moved := make([]float64, len(values))
	for i, v := range values {
		moved[i] = 1e-100 * (2*v - 4096)
	}
	model := decompose.Seasonal{Periods: []int{24, 168}, Model: naive.Last{}}
	one, err := model.Fit(hourly(values))
	if err != nil {
		t.Fatal(err)
	}
	other, err := model.Fit(hourly(moved))
	if err != nil {
		t.Fatal(err)
	}
	a, b := one.Forecast(100), other.Forecast(100)
	for i := range a.Point {
		a.Point[i], b.Point[i] = 2*a.Point[i]-4096, 1e100*b.Point[i]
		a.StdErr[i], b.StdErr[i] = 2*a.StdErr[i], 1e100*b.StdErr[i]
	}
	agree(t, "points", b.Point, a.Point, 1e-8)
	agree(t, "standard errors", b.StdErr, a.StdErr, 1e-8)
}

// The quantiles of a model with marginals of its own move with the seasons.
func TestSeasonalShiftsMarginals(t *testing.T) {
	y := make([]float64, 60)
	for i := range y {
		y[i] = 10 + []float64{1, 5, 9}[i%3] + float64(i%2)
	}
	fitted, err := decompose.Seasonal{Periods: []int{3}, Model: transform.Log{Model: naive.Last{}}}.Fit(hourly(y))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(6)
	// About the points, which have the seasons, they widen from step to step.
	width := 0.0
	for i, upper := range next.Quantile(0.99) {
		if over := upper - next.Point[i]; over > width {
			width = over
		} else {
			t.Errorf("step %d: %v above the point, after %v", i+1, over, width)
		}
	}
}
