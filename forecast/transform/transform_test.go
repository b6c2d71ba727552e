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
	"github.com/forewarm/forewarm/testdata/classic"
)

func hourly(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
}

// On the scale of logarithms the steps are ±1, whatever the level; so is the interval, which becomes a factor.
func ExampleModel() {
	model := transform.Model{Transform: transform.BoxCox{Lambda: 0}, Model: naive.Last{}}
	fitted, err := model.Fit(hourly(math.E, math.E*math.E, math.E, 1, math.E))
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(1)
	fmt.Println(model.Name())
	fmt.Printf("%.2f, between %.2f and %.2f\n", next.Point[0], next.Quantile(0.1587)[0], next.Quantile(0.8413)[0])
	// Output:
	// Last value of Box-Cox(0)
	// 2.72, between 1.00 and 7.39
}

// Demand that hardly ever is does not become negative.
func ExampleClip() {
	model := transform.Model{Transform: transform.Clip{High: math.Inf(1)}, Model: smoothing.Holt{}}
	fitted, err := model.Fit(hourly(9, 7, 5, 3, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f\n", fitted.Forecast(3).Point)
	// Output: [0 0 0]
}

func transforms() []transform.Transform {
	return []transform.Transform{
		transform.Log1p{},
		transform.Log1p{Unit: 0.03},
		transform.BoxCox{Lambda: -1},
		transform.BoxCox{Lambda: -0.3},
		transform.BoxCox{},
		transform.BoxCox{Lambda: 1e-12},
		transform.BoxCox{Lambda: 1e-6},
		transform.BoxCox{Lambda: 0.5},
		transform.BoxCox{Lambda: 1},
		transform.BoxCox{Lambda: 2},
		transform.Clip{Low: -5, High: 1e6},
	}
}

// There and back is where one was, and the way there is uphill.
func TestInverseIsIdentity(t *testing.T) {
	for _, tr := range transforms() {
		last := math.Inf(-1)
		for _, y := range []float64{-4, -1, -1e-9, 0, 1e-9, 0.3, 1, 1.0000001, 2, 10, 1234.5, 1e5} {
			z := tr.Forward(y)
			if math.IsNaN(z) {
				continue
			}
			identity(t, tr, y)
			if z < last {
				t.Errorf("%s(%v) = %v, less than %v", tr.Name(), y, z, last)
			}
			last = z
		}
	}
}

// identity fails unless y comes back, but for what rounding of its transform loses: a relative 2⁻⁵² of z, times the
// slope of the inverse, and of its logarithm.
func identity(t *testing.T, tr transform.Transform, y float64) {
	t.Helper()
	z := tr.Forward(y)
	back := tr.Inverse(z)
	near := 1e-14 * math.Max(math.Abs(z), 1e-300)
	lost := tr.Inverse(z+near) - tr.Inverse(z-near)
	if !(math.Abs(back-y) <= lost+1e-15*(10+math.Abs(math.Log(math.Abs(y)+1e-300)))*math.Abs(y)) {
		t.Errorf("%s: %v becomes %v and comes back as %v", tr.Name(), y, z, back)
	}
}

func FuzzInverse(f *testing.F) {
	f.Add(0.5, 0.0)
	f.Add(-7.0, 0.5)
	f.Add(1e149, -1.0)
	f.Add(1e-300, 2.0)
	f.Fuzz(func(t *testing.T, y, lambda float64) {
		if !(math.Abs(y) <= 1e150 && math.Abs(lambda) <= 2) {
			return
		}
		identity(t, transform.Log1p{}, y)
		identity(t, transform.Log1p{Unit: 40}, y)
		b := transform.BoxCox{Lambda: lambda}
		z := b.Forward(y)
		if math.IsNaN(z) {
			if y > 0 {
				t.Errorf("%s of %v is not defined", b.Name(), y)
			}
			return
		}
		// Large negative powers press large values together against −1/λ, from where none comes back.
		if back := b.Inverse(z); math.IsNaN(back) {
			t.Errorf("%s: %v becomes %v and then NaN", b.Name(), y, z)
		}
		if x := lambda*z + 1; math.Abs(x) > 1e-6 && math.Abs(x) < 1e100 && !math.IsInf(z, 0) {
			identity(t, b, y)
		}
	})
}

// The curvature is what the inverse's second differences say.
func TestCurvature(t *testing.T) {
	for _, tr := range transforms() {
		for _, y := range []float64{0.5, 2, 40} {
			const h = 1e-4
			z := tr.Forward(y)
			got := tr.Curvature(z)
			want := (tr.Inverse(z+h) - 2*tr.Inverse(z) + tr.Inverse(z-h)) / (h * h)
			within(t, tr.Name()+" curvature", got, want, 1e-3*math.Abs(want)+1e-5)
		}
	}
}

// The figures are those of R's package forecast 8.20: BoxCox, and BoxCox.lambda of AirPassengers and LakeHuron.
func TestClassicFigures(t *testing.T) {
	for lambda, want := range map[float64]float64{0.5: 4.32455532033676, 0: 2.30258509299405, -0.3: 1.66270922124243} {
		b := transform.BoxCox{Lambda: lambda}
		within(t, b.Name(), b.Forward(10), want, 1e-13)
	}
	for _, tt := range []struct {
		name   string
		period int
		want   float64
	}{
		{"AirPassengers", 12, -0.294715585559316}, {"LakeHuron", 1, 1.99992424816297}, {"WWWusage", 1, 0.359625252668615},
	} {
		s, err := classic.Series(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := transform.Guerrero(s.Values, tt.period)
		if err != nil {
			t.Fatal(err)
		}
		within(t, tt.name, got, tt.want, 1e-9)
	}
}

func TestGuerreroRefuses(t *testing.T) {
	if _, err := transform.Guerrero([]float64{1, 2, 0, 4}, 2); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("with a zero: %v, want %v", err, forecast.ErrParameter)
	}
	if _, err := transform.Guerrero([]float64{1, 2, 3}, 2); !errors.Is(err, forecast.ErrTooShort) {
		t.Errorf("one period: %v, want %v", err, forecast.ErrTooShort)
	}
	got, err := transform.Guerrero([]float64{7, 7, 7, 7, 7, 7}, 2)
	if err != nil || !(got >= -1 && got <= 2) {
		t.Errorf("of a constant: %v, %v", got, err)
	}
}

func models() []forecast.Model {
	return []forecast.Model{
		transform.Model{Transform: transform.Log1p{}, Model: naive.Last{}},
		transform.Model{Transform: transform.Log1p{}, Model: smoothing.Holt{}, Means: 10},
		transform.Log{Model: smoothing.Holt{Damped: true}},
		transform.Model{Transform: transform.BoxCox{Lambda: -0.5}, Model: smoothing.Holt{}, Means: 60},
		transform.Model{Transform: transform.BoxCox{Lambda: 0.5}, Model: smoothing.SES{}},
		transform.Model{Transform: transform.BoxCox{Lambda: 2}, Model: naive.Seasonal{Period: 3}, Means: 1},
		transform.Model{
			Transform: transform.Clip{High: 1000},
			Model:     transform.Model{Transform: transform.Log1p{}, Model: smoothing.Holt{Damped: true}},
		},
		transform.Power{Period: 12, Model: naive.Last{}},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(0.5, uint8(3), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, lambda float64, means uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, transform.Model{
			Transform: transform.BoxCox{Lambda: lambda}, Model: smoothing.Holt{}, Means: int(means),
		}, values)
		modeltest.Check(t, transform.Power{Period: int(means), Model: naive.Last{}}, values)
	})
}

// Quantiles of a clipped logarithm are increasing, within the bounds, and their median is the point.
func TestMarginals(t *testing.T) {
	fitted, err := transform.Model{
		Transform: transform.Clip{High: 200},
		Model:     transform.Model{Transform: transform.Log1p{}, Model: naive.Last{}},
	}.Fit(hourly(90, 120, 60, 100, 80, 110))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(20)
	for i, point := range next.Point {
		within(t, "median", next.Marginals.Quantile(i, 0.5), point, 1e-12)
		last := 0.0
		for p := 0.01; p < 1; p += 0.01 {
			q := next.Marginals.Quantile(i, p)
			if q < last || q > 200 {
				t.Fatalf("step %d: the %.2f quantile is %v after %v", i+1, p, q, last)
			}
			last = q
		}
	}
}

func TestModelRefuses(t *testing.T) {
	for name, model := range map[string]forecast.Model{
		"no map":   transform.Model{Model: naive.Last{}},
		"no model": transform.Model{Transform: transform.Log1p{}},
		"a zero":   transform.Model{Transform: transform.BoxCox{}, Model: naive.Last{}},
		"a power":  transform.Power{Model: naive.Last{}},
	} {
		if _, err := model.Fit(hourly(1, 2, 0, 3)); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", name, err, forecast.ErrParameter)
		}
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
		fitted, err := transform.Log{Model: smoothing.SES{}}.Fit(hourly(scaled...))
		if err != nil {
			t.Fatal(err)
		}
		return fitted.Forecast(2).Point
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
