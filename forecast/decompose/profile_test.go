package decompose_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/naive"
)

// A morning that starts at nine on five days of the week, on a level that wanders a little. The series begins on Monday,
// 2 November 2026, at 06:00.
func ExampleProfile() {
	start := time.Date(2026, 11, 2, 6, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	s := forecast.Series{Start: start, Step: time.Hour}
	level := 100.0
	for i := range 21*24 + 2 {
		level += random.NormFloat64()
		demand := level
		if at := s.TimeAt(i); at.Weekday()%6 > 0 && at.Hour() >= 9 {
			demand += 50
		}
		s.Values = append(s.Values, demand)
	}
	fitted, err := decompose.Profile{Model: naive.Last{}}.Estimate(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(2)
	fmt.Printf("%s %+.0f\n", next.TimeAt(1).Format("Mon 15:04"), next.Point[1]-next.Point[0])
	fmt.Printf("weight %.1f, week %v\n", fitted.Weight(), fitted.Week())
	// Output:
	// Mon 09:00 +50
	// weight 1.0, week [0 0 0 0 0 1 1]
}

// minutely is a series of a day's shape on a random walk, both of the given size, in ten-minute steps.
func minutely(seed uint64, days int, shape, walk float64) forecast.Series {
	random := rand.New(rand.NewPCG(seed, 7))
	s := forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: 10 * time.Minute}
	level := 0.0
	for i := range days * 144 {
		level += walk * random.NormFloat64()
		s.Values = append(s.Values, level+shape*math.Sin(2*math.Pi*float64(i)/144)+random.NormFloat64())
	}
	return s
}

func TestProfileProvesItself(t *testing.T) {
	model := decompose.Profile{Model: naive.Last{}, Horizon: 6}
	believed := 0.0
	for seed := range uint64(20) {
		fitted, err := model.Estimate(minutely(seed, 10, 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		believed += fitted.Weight()
		fitted, err = model.Estimate(minutely(seed, 10, 20, 0.1))
		if err != nil {
			t.Fatal(err)
		}
		if w := fitted.Weight(); w < 0.9 {
			t.Errorf("seed %d: weight %v of a day that repeats", seed, w)
		}
	}
	if believed /= 20; believed > 0.03 {
		t.Errorf("the mean weight of the profiles of 20 random walks is %v", believed)
	}
}

// An outage, a spike and a lost day leave the shape of the day alone.
func TestProfileIsRobust(t *testing.T) {
	s := minutely(1, 15, 20, 0)
	model := decompose.Profile{Model: naive.Last{}, Horizon: 6}
	clean, err := model.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := s
	spoilt.Values = slices.Clone(s.Values)
	for i := range 144 {
		spoilt.Values[3*144+i] = math.NaN()
		spoilt.Values[5*144+i/4] = -500
	}
	spoilt.Values[1000] = 1e9
	fitted, err := model.Estimate(spoilt)
	if err != nil {
		t.Fatal(err)
	}
	// The noise has a deviation of 1, its median over 15 days one of 0.3.
	agree(t, "points", fitted.Forecast(144).Point, clean.Forecast(144).Point, 4)
}

// The profile goes on from wherever in the day the series ends.
func TestProfileCarriesOn(t *testing.T) {
	s := minutely(2, 16, 20, 0)
	for _, tail := range []int{0, 1, 100} {
		cut := 15*144 + tail
		fitted, err := decompose.Profile{Model: naive.Last{}}.Fit(s.Slice(0, cut))
		if err != nil {
			t.Fatal(err)
		}
		agree(t, fmt.Sprintf("%d steps into the day", tail), fitted.Forecast(40).Point, s.Values[cut:cut+40], 8)
		for range 144 * 7 {
			fitted.Update(math.NaN())
		}
		after := fitted.Forecast(40)
		agree(t, "a week of gaps later", after.Point, s.Values[cut:cut+40], 8)
		if want := s.TimeAt(cut + 7*144); !after.Start.Equal(want) {
			t.Errorf("starts at %s, want %s", after.Start, want)
		}
	}
}

func profiles() []forecast.Model {
	return []forecast.Model{
		decompose.Profile{Day: 2, Model: naive.Last{}},
		decompose.Profile{Day: 7, Horizon: 3, Model: naive.Last{}},
		decompose.Profile{Day: 24, Horizon: 23, Model: naive.Seasonal{Period: 3}},
	}
}

func TestProfileOnHostileSeries(t *testing.T) {
	for _, model := range profiles() {
		modeltest.Test(t, model)
	}
}

func FuzzProfile(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(3), uint8(1), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, day, horizon uint8, raw []byte) {
		modeltest.Check(t, decompose.Profile{Day: int(day), Horizon: int(horizon), Model: naive.Last{}},
			modeltest.Values(raw))
	})
}

func TestProfileRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		model decompose.Profile
		days  int
		want  error
	}{
		"no model":            {decompose.Profile{}, 4, forecast.ErrParameter},
		"a day of one step":   {decompose.Profile{Day: 1, Model: naive.Last{}}, 4, forecast.ErrParameter},
		"a horizon of a day":  {decompose.Profile{Horizon: 144, Model: naive.Last{}}, 4, forecast.ErrParameter},
		"two days":            {decompose.Profile{Model: naive.Last{}}, 2, forecast.ErrTooShort},
		"a model that wants ": {decompose.Profile{Model: naive.Seasonal{Period: 9999}}, 4, forecast.ErrTooShort},
	} {
		if _, err := tt.model.Fit(minutely(1, tt.days, 1, 1)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	odd := minutely(1, 4, 1, 1)
	odd.Step = 7 * time.Minute
	if _, err := (decompose.Profile{Model: naive.Last{}}).Fit(odd); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("a step that divides no day: %v, want %v", err, forecast.ErrParameter)
	}
}
