package regress_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/regress"
	"github.com/forewarm/forewarm/testdata/golden"
)

var monday = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.12g, want %.12g within %.1g", what, got, want, tolerance)
	}
}

// A nightly batch run adds 30 to a demand of 100 with a slope of ½ an hour; the regression tells the two apart and knows
// when the next run is.
func ExampleEvent() {
	batch := regress.Event{Start: monday.Add(2 * time.Hour), Length: 3 * time.Hour, Every: 24 * time.Hour}
	s := forecast.Series{Start: monday, Step: time.Hour}
	for i := range 72 {
		y := 100 + 0.5*float64(i+1)
		if hour := i % 24; hour >= 2 && hour < 5 {
			y += 30
		}
		s.Values = append(s.Values, y)
	}
	model := arima.ARIMA{Constant: true, Regressors: regress.Design{regress.Drift{}, batch}}
	fitted, err := model.Estimate(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Name())
	fmt.Printf("%.1f\n", fitted.Coefficients().Regression)
	fmt.Printf("%.1f\n", fitted.Forecast(6).Point)
	// Output:
	// Regression with ARIMA(0,0,0) with non-zero mean errors
	// [0.5 30.0]
	// [136.5 137.0 167.5 168.0 168.5 139.0]
}

// A season of 24 steps as one wave: a quarter of the way its sine is at the top.
func ExampleFourier() {
	wave := regress.Fourier{Period: 24, Harmonics: 1}
	row := make([]float64, wave.Width())
	for _, step := range []int{6, 12, 24} {
		wave.Row(row, step, time.Time{})
		fmt.Printf("step %2d: sine %2.0f, cosine %2.0f\n", step, row[0]+0, row[1]+0)
	}
	// Output:
	// step  6: sine  1, cosine  0
	// step 12: sine  0, cosine -1
	// step 24: sine  0, cosine  1
}

func TestFourier(t *testing.T) {
	f := regress.Fourier{Period: 7.5, Harmonics: 3}
	row := make([]float64, f.Width())
	for _, step := range []int{1, 2, 100, 1_000_003} {
		f.Row(row, step, time.Time{})
		for k := 1; k <= 3; k++ {
			// A step and its remainder by two whole periods have the same phase.
			phase := 2 * math.Pi * float64(k) * float64(step%15) / 7.5
			within(t, "sine", row[2*k-2], math.Sin(phase), 1e-9)
			within(t, "cosine", row[2*k-1], math.Cos(phase), 1e-9)
		}
	}
	whole := regress.Fourier{Period: 4, Harmonics: 2}
	if whole.Width() != 3 {
		t.Fatalf("two harmonics of period 4 have %d columns, want 3: the last sine is 0 throughout", whole.Width())
	}
	row = make([]float64, 3)
	for step, want := range [][]float64{{0, 1, 1}, {1, 0, -1}, {0, -1, 1}, {-1, 0, -1}} {
		whole.Row(row, step, time.Time{})
		for i := range want {
			within(t, fmt.Sprintf("step %d, column %d", step, i+1), row[i], want[i], 1e-12)
		}
	}
}

func TestFourierAgainstR(t *testing.T) {
	var data struct {
		Fourier struct{ Rows [][]float64 } `json:"fourier_h3"`
	}
	golden.Load(t, &data)
	design := regress.Design{regress.Fourier{Period: 24, Harmonics: 2}, regress.Fourier{Period: 168, Harmonics: 3}}
	row := make([]float64, design.Width())
	// R's rows are three steps after a series, steps 101 to 103 of a week: asin −0.594 of the week's first wave.
	for h, want := range data.Fourier.Rows {
		design.Row(row, 101+h, time.Time{})
		for i := range want {
			within(t, fmt.Sprintf("row %d, column %d", h+1, i+1), row[i], want[i], 1e-12)
		}
	}
}

func TestEvent(t *testing.T) {
	daily := regress.Event{Start: monday.Add(2 * time.Hour), Length: time.Hour, Every: 24 * time.Hour}
	for _, c := range []struct {
		name  string
		event regress.Event
		at    time.Duration
		want  float64
	}{
		{"before it first begins", daily, 0, 0},
		{"a day before", daily, -22 * time.Hour, 0},
		{"as it begins", daily, 2 * time.Hour, 1},
		{"as it ends", daily, 3 * time.Hour, 0},
		{"as it comes again", daily, 50*time.Hour + 30*time.Minute, 1},
		{"a release stays", regress.Event{Start: monday}, 9000 * time.Hour, 1},
		{"a sale ends for good", regress.Event{Start: monday, Length: time.Hour}, 25 * time.Hour, 0},
	} {
		row := []float64{7}
		c.event.Row(row, 1, monday.Add(c.at))
		if row[0] != c.want {
			t.Errorf("%s: %v, want %v", c.name, row[0], c.want)
		}
	}
}

func TestBadTerms(t *testing.T) {
	for name, design := range map[string]regress.Design{
		"no term":                       {nil},
		"no harmonic":                   {regress.Fourier{Period: 24}},
		"more harmonics than there are": {regress.Fourier{Period: 24, Harmonics: 13}},
		"a period of nothing":           {regress.Fourier{Period: math.NaN(), Harmonics: 1}},
		"a negative length":             {regress.Drift{}, regress.Event{Length: -1}},
		"it begins before it ends":      {regress.Event{Length: 2, Every: 1}},
		"for good, again and again":     {regress.Event{Every: 1}},
	} {
		if err := design.Validate(); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", name, err, forecast.ErrParameter)
		}
	}
	good := regress.Design{regress.Mean{}, regress.Drift{}, regress.Fourier{Period: 24, Harmonics: 12}, regress.Event{}}
	if err := good.Validate(); err != nil || good.Width() != 26 {
		t.Errorf("width %d, want 26; %v", good.Width(), err)
	}
}
