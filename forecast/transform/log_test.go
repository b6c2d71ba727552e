package transform_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/transform"
)

func hourly(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
}

func fit(t *testing.T, model forecast.Model, values ...float64) forecast.Fitted {
	t.Helper()
	fitted, err := model.Fit(hourly(values...))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// On the scale of logarithms the steps are a doubling or a halving, whatever the level; so is the interval, which becomes
// a factor.
func ExampleLog() {
	model := transform.Log{Model: naive.Last{}}
	fitted, err := model.Fit(hourly(200, 400, 200, 100, 200))
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(1)
	fmt.Println(model.Name())
	fmt.Printf("%.0f, between %.0f and %.0f\n", next.Point[0], next.Quantile(0.1587)[0], next.Quantile(0.8413)[0])
	// Output:
	// Last value of log
	// 200, between 100 and 399
}

// There and back is where one was: the last value is forecast to be the last value, whatever its size compared with the others.
func TestInverseIsIdentity(t *testing.T) {
	for _, y := range []float64{-4, -1, -1e-9, 0, 1e-9, 0.3, 1, 1.0000001, 10, 1234.5, 1e5, 1e149} {
		for _, before := range []float64{0, 0.003, 7, -1e6} {
			got := fit(t, transform.Log{Model: naive.Last{}}, before, y).Forecast(1).Point[0]
			if want := 1e-12 * (math.Abs(y) + 1e-3*math.Abs(before)); math.Abs(got-y) > want {
				t.Errorf("%v after %v comes back as %v", y, before, got)
			}
		}
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range []forecast.Model{
		transform.Log{Model: naive.Last{}},
		transform.Log{Model: smoothing.Holt{Damped: true}},
		transform.Log{Model: transform.Log{Model: naive.Seasonal{Period: 3}}},
	} {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		modeltest.Check(t, transform.Log{Model: smoothing.Holt{}}, modeltest.Values(raw))
	})
}

// Quantiles of a logarithm, and of one of one, are increasing, and their median is the point.
func TestMarginals(t *testing.T) {
	for _, model := range []forecast.Model{
		transform.Log{Model: naive.Last{}}, transform.Log{Model: transform.Log{Model: naive.Last{}}},
	} {
		next := fit(t, model, 90, 120, 60, 100, 80, 110).Forecast(20)
		for i, point := range next.Point {
			if got := next.Marginals.Quantile(i, 0.5); math.Abs(got-point) > 1e-12 {
				t.Errorf("%s, step %d: the median is %v, the point %v", model.Name(), i+1, got, point)
			}
			last := math.Inf(-1)
			for p := 0.01; p < 1; p += 0.01 {
				q := next.Marginals.Quantile(i, p)
				if q < last {
					t.Fatalf("%s, step %d: the %.2f quantile is %v after %v", model.Name(), i+1, p, q, last)
				}
				last = q
			}
		}
	}
}

func TestLogRefuses(t *testing.T) {
	if _, err := (transform.Log{}).Fit(hourly(1, 2, 0, 3)); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("no model: %v, want %v", err, forecast.ErrParameter)
	}
}

// It does not matter to Log in what a series is counted.
func TestLogIsScaleEquivariant(t *testing.T) {
	values := []float64{20, 0, 31, 18, 47, 33, 29, 60, 44, 12}
	points := func(factor float64) []float64 {
		scaled := make([]float64, len(values))
		for i, y := range values {
			scaled[i] = factor * y
		}
		return fit(t, transform.Log{Model: smoothing.SES{}}, scaled...).Forecast(2).Point
	}
	own := points(1)
	for _, factor := range []float64{1e-6, 1e6} {
		for i, got := range points(factor) {
			if want := factor * own[i]; math.Abs(got-want) > 1e-6*want {
				t.Errorf("times %v: point %d is %v, want %v", factor, i, got, want)
			}
		}
	}
}
