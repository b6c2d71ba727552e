package autoregress_test

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
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func series(values []float64) forecast.Series {
	return forecast.Series{Step: time.Hour, Values: values}
}

// process is an autoregression of order two, φ = (0.5, 0.3), around 50.
func process(n int) []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]float64, n)
	a, b := 0.0, 0.0
	for i := range out {
		a, b = 0.5*a+0.3*b+random.NormFloat64(), a
		out[i] = 50 + a
	}
	return out
}

func TestModel(t *testing.T) {
	modeltest.Test(t, autoregress.Ridge{Lags: autoregress.SeasonalLags(12)})
	modeltest.Test(t, autoregress.Ridge{Lags: autoregress.SeasonalLags(12), Profile: 7, HalfLife: 20})
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		modeltest.Check(t, autoregress.Ridge{Lags: []int{1, 2, 4}, Profile: 2}, modeltest.Values(raw))
	})
}

func TestSeasonalLags(t *testing.T) {
	for name, tt := range map[string]struct {
		seasons []int
		want    []int
	}{
		"no season":                {nil, []int{1, 2, 3}},
		"days and weeks of hours":  {[]int{24, 168}, []int{1, 2, 3, 21, 22, 23, 24, 25, 26, 27, 165, 166, 167, 168, 169, 170, 171}},
		"neighbors are named once": {[]int{2, 4}, []int{1, 2, 3, 4, 5, 6, 7}},
	} {
		if diff := cmp.Diff(tt.want, autoregress.SeasonalLags(tt.seasons...)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// The weights of a process are found.
func TestWeights(t *testing.T) {
	fitted, err := autoregress.Ridge{Lags: []int{1, 2}}.Estimate(series(process(20000)))
	if err != nil {
		t.Fatal(err)
	}
	// The deviation of a weight is √((1−φ₂²)/n) = 0.007 under least squares; near the least absolute errors a quarter
	// more.
	if diff := cmp.Diff([]float64{0.5, 0.3}, fitted.Weights(), cmpopts.EquateApprox(0, 0.03)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// One outage does not rule the weights, though it is used as well.
func TestOutage(t *testing.T) {
	values := process(2000)
	for i := 1000; i < 1010; i++ {
		values[i] = 0
	}
	fitted, err := autoregress.Ridge{Lags: []int{1, 2}}.Estimate(series(values))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0.5, 0.3}, fitted.Weights(), cmpopts.EquateApprox(0, 0.15)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The standard errors are those of the process: 1, √(1 + φ₁²), …, up to its deviation.
func TestStandardErrors(t *testing.T) {
	fitted, err := autoregress.Ridge{Lags: []int{1, 2}}.Fit(series(process(20000)))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, math.Sqrt(1.25), math.Sqrt(1.25 + 0.55*0.55)}
	if diff := cmp.Diff(want, fitted.Forecast(3).StdErr, cmpopts.EquateApprox(0.03, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	fitted.Update(math.NaN())
	if got := fitted.Forecast(1).StdErr[0]; math.Abs(got-want[1]) > 0.03 {
		t.Errorf("one step after a gap: %v, want that of two steps, %v", got, want[1])
	}
}

// A season of any shape on a profile of its length leaves nothing to say.
func TestProfile(t *testing.T) {
	shape := []float64{3, 1, 4, 1, 5, 9, 2}
	values := make([]float64, 70)
	for i := range values {
		values[i] = shape[i%7]
	}
	fitted, err := autoregress.Ridge{Lags: []int{1}, Profile: 7}.Fit(series(values))
	if err != nil {
		t.Fatal(err)
	}
	fitted.Update(shape[0])
	if diff := cmp.Diff([]float64{1, 4, 1, 5, 9, 2, 3, 1}, fitted.Forecast(8).Point,
		cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Fed on, a model stands where one with the same weights that saw all of it stands.
func TestUpdate(t *testing.T) {
	values := process(500)
	fitted, err := autoregress.Ridge{Lags: []int{1, 2, 5}}.Estimate(series(values[:400]))
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range values[400:] {
		fitted.Update(y)
	}
	w := fitted.Weights()
	point := fitted.Forecast(1).Point[0]
	fitted.Update(values[499] + 1)
	// A value one higher than the last moves the next forecast by the weights alone.
	moved := fitted.Forecast(1).Point[0] - point
	want := w[0]*(values[499]+1-values[499]) + w[1]*(values[499]-values[498]) + w[2]*(values[496]-values[495])
	if math.Abs(moved-want) > 1e-9 {
		t.Errorf("the forecast moved by %v, want %v", moved, want)
	}
}

// An explosive series is not followed to the stars.
func TestBounded(t *testing.T) {
	values := make([]float64, 60)
	for i := range values {
		values[i] = math.Exp(float64(i) / 4)
	}
	fitted, err := autoregress.Ridge{Lags: []int{1}}.Fit(series(values))
	if err != nil {
		t.Fatal(err)
	}
	points := fitted.Forecast(1000).Point
	if got, most := points[999], 2.1*values[59]; got > most {
		t.Errorf("a thousand steps on: %g, want at most %g", got, most)
	}
}

func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		model autoregress.Ridge
		n     int
		want  error
	}{
		"no lags":              {autoregress.Ridge{}, 100, forecast.ErrParameter},
		"a lag of 0":           {autoregress.Ridge{Lags: []int{0, 1}}, 100, forecast.ErrParameter},
		"lags out of order":    {autoregress.Ridge{Lags: []int{2, 1}}, 100, forecast.ErrParameter},
		"a negative penalty":   {autoregress.Ridge{Lags: []int{1}, Penalty: -1}, 100, forecast.ErrParameter},
		"too short":            {autoregress.Ridge{Lags: []int{1, 50}}, 55, forecast.ErrTooShort},
		"one period a profile": {autoregress.Ridge{Lags: []int{1}, Profile: 60}, 100, forecast.ErrTooShort},
	} {
		if _, err := tt.model.Fit(series(process(tt.n))); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A day of 24 steps that is a tenth busier every day: the regression finds by how much the newest steps and those of a day
// ago tell what comes.
func Example() {
	s := forecast.Series{Start: time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour}
	for i := range 10 * 24 {
		day := math.Pow(1.1, float64(i/24))
		s.Values = append(s.Values, math.Round(day*(100+40*math.Sin(2*math.Pi*float64(i)/24))))
	}
	fitted, err := autoregress.Ridge{Lags: autoregress.SeasonalLags(24)}.Fit(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(24)
	for _, step := range []int{5, 17} {
		fmt.Printf("%s %.0f, a day ago %.0f\n",
			next.TimeAt(step).Format("15:04"), next.Point[step], s.Values[len(s.Values)-24+step])
	}
	// Output:
	// 05:00 360, a day ago 327
	// 17:00 159, a day ago 145
}
