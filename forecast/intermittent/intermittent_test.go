package intermittent_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/intermittent"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

var nan = math.NaN()

func daily(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

func fit(t *testing.T, model forecast.Model, values ...float64) forecast.Fitted {
	t.Helper()
	fitted, err := model.Fit(daily(values...))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(math.Abs(want), 1)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

var parts = []float64{0, 0, 3, 0, 0, 0, 2, 5, 0, 0, 0, 0, 1, 0, 4, 0, 0, 2, 0, 0, 0, 0, 0, 6, 1, 0, 0, 3, 0, 0}

// The figures are those of croston in R 4.2.2, forecast 8.20, which has no correction: that is its factor.
func TestCrostonAgainstR(t *testing.T) {
	for alpha, want := range map[float64]float64{0.1: 0.980059407278, 0.3: 0.977110716492} {
		for corrected, factor := range map[bool]float64{false: 1, true: 1 - alpha/2} {
			fitted := fit(t, intermittent.Croston{Alpha: alpha, Corrected: corrected}, parts...)
			near(t, "the demand a step", fitted.Forecast(3).Point[2], factor*want)
		}
	}
}

// By hand: one step of two has a demand of 4; then the share and the size move by half.
func TestTSB(t *testing.T) {
	fitted := fit(t, intermittent.TSB{Alpha: 0.5, Beta: 0.5}, 0, 4)
	near(t, "after 0 and 4", fitted.Forecast(1).Point[0], 4*0.5)
	fitted.Update(8)
	near(t, "after 8", fitted.Forecast(1).Point[0], 6*0.75)
	fitted.Update(nan)
	near(t, "after a gap", fitted.Forecast(1).Point[0], 6*0.75)
}

// Where demand has ended Croston's forecast stays and TSB's fades.
func TestDemandThatEnds(t *testing.T) {
	croston, tsb := fit(t, intermittent.Croston{}, parts...), fit(t, intermittent.TSB{}, parts...)
	before := croston.Forecast(1).Point[0]
	for range 60 {
		croston.Update(0)
		tsb.Update(0)
	}
	near(t, "Croston's forecast", croston.Forecast(1).Point[0], before)
	if got := tsb.Forecast(1).Point[0]; got > 0.01 {
		t.Errorf("TSB forecasts %v after 60 steps without demand, want next to nothing", got)
	}
}

// Days of two slots without and two with demand, one of them only every other day; what is missing says nothing.
func TestSlots(t *testing.T) {
	slots := intermittent.NewSlots(4)
	for day := range 20 {
		for _, y := range []float64{0, 0, 10, 10 * float64(day%2)} {
			slots.Update(y)
		}
	}
	slots.Update(nan)
	for ahead, want := range []float64{1, 0, 0.5, 1} {
		if got := slots.Zero(ahead); math.Abs(got-want) > 0.02 {
			t.Errorf("%d steps after the coming one is 0 with %v, want about %v", ahead, got, want)
		}
	}
	if got := (&intermittent.Slots{}).Zero(3); got != 0 {
		t.Errorf("without a day, %v", got)
	}
}

func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		model  forecast.Model
		values []float64
		want   error
	}{
		"a smoothing above 1":     {intermittent.Croston{Alpha: 1.5}, parts, forecast.ErrParameter},
		"one below 0":             {intermittent.TSB{Beta: -1}, parts, forecast.ErrParameter},
		"no number":               {intermittent.TSB{Alpha: nan}, parts, forecast.ErrParameter},
		"no observation":          {intermittent.Croston{}, []float64{nan}, forecast.ErrTooShort},
		"infinite":                {intermittent.TSB{}, []float64{1, math.Inf(1)}, forecast.ErrNotFinite},
		"zeros are a demand of 0": {intermittent.Croston{}, []float64{0, 0}, nil},
	} {
		if _, err := tt.model.Fit(daily(tt.values...)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func models() []forecast.Model {
	return []forecast.Model{intermittent.Croston{}, intermittent.Croston{Corrected: true}, intermittent.TSB{}}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, model := range models() {
			modeltest.Check(t, model, modeltest.Values(raw))
		}
	})
}
