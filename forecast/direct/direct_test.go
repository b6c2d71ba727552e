package direct_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/direct"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func minutes(values []float64) forecast.Series {
	return forecast.Series{Step: time.Minute, Values: values}
}

// pull is a series that goes back to 100 by a tenth of the distance each step.
func pull(n int) []float64 {
	random := rand.New(rand.NewPCG(3, 5))
	out, y := make([]float64, n), 100.0
	for i := range out {
		y += 0.1*(100-y) + random.NormFloat64()
		out[i] = y
	}
	return out
}

func fit(t *testing.T, m direct.Direct, values []float64) forecast.Fitted {
	t.Helper()
	fitted, err := m.Fit(minutes(values))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

func TestModel(t *testing.T) {
	modeltest.Test(t, direct.Direct{})
	modeltest.Test(t, direct.Direct{Horizon: 3, HalfLife: 20, Penalty: 1})
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		modeltest.Check(t, direct.Direct{Horizon: 7}, modeltest.Values(raw))
	})
}

// Ten steps on, what is left of a distance from the level is 0.9^10 = 0.35: a direct regression finds that, as far as its
// means tell the level, with standard errors of √((1−0.81^10)/0.19) = 2.15. The last value's are 2.62, so that 0.82 of its
// error is the least there is.
func TestPull(t *testing.T) {
	values := pull(5000)
	fitted := fit(t, direct.Direct{Horizon: 10, HalfLife: 1e6}, values[:4000])
	own, last, points := 0.0, 0.0, make([]float64, 10)
	for i, y := range values[4000:4990] {
		fitted.Update(y)
		fitted.PointsTo(points)
		came := values[4000+i+10]
		own += math.Abs(came - points[9])
		last += math.Abs(came - y)
	}
	if own > 0.90*last {
		t.Errorf("mean absolute error %.3f of the last value's, want at most 0.90", own/last)
	}
	if got := fitted.Forecast(10).StdErr[9]; got < 2.1 || got > 2.4 {
		t.Errorf("standard error %.3f, want 2.15 to 2.4", got)
	}
}

// A random walk leaves nothing to forecast: the ridge takes the weights to the last value.
func TestRandomWalk(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	values, y := make([]float64, 4000), 500.0
	for i := range values {
		y += random.NormFloat64()
		values[i] = y
	}
	points := fit(t, direct.Direct{}, values).Forecast(15)
	for i, point := range points.Point {
		if math.Abs(point-y) > 1 {
			t.Errorf("step %d: %.2f, the last value is %.2f", i+1, point, y)
		}
	}
	if got := points.StdErr[14]; math.Abs(got-math.Sqrt(15)) > 0.5 {
		t.Errorf("standard error 15 steps on: %.2f, want about √15", got)
	}
}

// A series in another unit and at another level has its forecasts there.
func TestEquivariance(t *testing.T) {
	values := pull(400)
	moved := make([]float64, len(values))
	for i, v := range values {
		moved[i] = 1000*v + 5e4
	}
	want := fit(t, direct.Direct{}, values).Forecast(20)
	got := fit(t, direct.Direct{}, moved).Forecast(20)
	for i := range got.Point {
		got.Point[i] = (got.Point[i] - 5e4) / 1000
		got.StdErr[i] /= 1000
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Updates bring a model to where a fit of all stands, but for the weights; with a half-life so long and a new part so short
// these are nearly the same.
func TestUpdate(t *testing.T) {
	values := pull(3000)
	fitted := fit(t, direct.Direct{HalfLife: 1e6}, values[:2995])
	for _, y := range values[2995:] {
		fitted.Update(y)
	}
	want := fit(t, direct.Direct{HalfLife: 1e6}, values).Forecast(15).Point
	if diff := cmp.Diff(want, fitted.Forecast(15).Point, cmpopts.EquateApprox(0, 0.1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Steps between two regressions lie on a straight line, those beyond the last stay; a gap leaves the points and widens.
func TestPath(t *testing.T) {
	fitted := fit(t, direct.Direct{Horizon: 10}, pull(300))
	before := fitted.Forecast(14)
	p := before.Point
	for i := 5; i < 9; i++ {
		if want := p[4] + float64(i-4)/5*(p[9]-p[4]); math.Abs(p[i]-want) > 1e-9 {
			t.Errorf("step %d: %v, want %v", i+1, p[i], want)
		}
	}
	if p[13] != p[9] {
		t.Errorf("step 14: %v, want that of step 10, %v", p[13], p[9])
	}
	fitted.Update(math.NaN())
	after := fitted.Forecast(14)
	if diff := cmp.Diff(before.Point, after.Point); diff != "" {
		t.Errorf("after a gap\n%s", diff)
	}
	if after.StdErr[0] != before.StdErr[1] {
		t.Errorf("after a gap the first standard error is %v, want %v", after.StdErr[0], before.StdErr[1])
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		model direct.Direct
		n     int
		want  error
	}{
		{"a negative horizon", direct.Direct{Horizon: -1}, 100, forecast.ErrParameter},
		{"a negative half-life", direct.Direct{HalfLife: -1}, 100, forecast.ErrParameter},
		{"a negative penalty", direct.Direct{Penalty: -1}, 100, forecast.ErrParameter},
		{"15 points", direct.Direct{}, 15, forecast.ErrTooShort},
		{"no pairs so far apart", direct.Direct{Horizon: 90}, 100, forecast.ErrTooShort},
	} {
		if _, err := tt.model.Fit(minutes(pull(tt.n))); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// Noise about a level: the newest value says little, the means say where it will go.
func ExampleDirect() {
	random := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 600)
	for i := range values {
		values[i] = 100 + 10*random.NormFloat64()
	}
	fitted, err := direct.Direct{Horizon: 5}.Fit(forecast.Series{Step: time.Minute, Values: values})
	if err != nil {
		fmt.Println(err)
		return
	}
	fitted.Update(180)
	fmt.Printf("after a jump to 180: %.0f in five minutes\n", fitted.Forecast(5).Point[4])
	// Output:
	// after a jump to 180: 109 in five minutes
}
