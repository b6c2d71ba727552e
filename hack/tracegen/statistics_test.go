package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
)

func minutes(days int, value func(i int) float64) forecast.Series {
	values := make([]float64, days*1440)
	for i := range values {
		values[i] = value(i)
	}
	return forecast.Series{Start: time.Unix(0, 0), Step: time.Minute, Values: values}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.4f, want %.4f ± %g", what, got, want, tolerance)
	}
}

func TestAPureDayIsAllDay(t *testing.T) {
	s := measure(minutes(8, func(i int) float64 { return 10 + 2*math.Sin(2*math.Pi*float64(i)/1440) }))
	near(t, "mean", s.Mean, 10, 1e-9)
	near(t, "variation", s.CV, 0.2/math.Sqrt2, 1e-4)
	near(t, "share of the day", s.Day, 1, 1e-9)
	near(t, "correlation with the next day", s.NextDay, 1, 1e-9)
	near(t, "shift", s.Shift, 1, 1e-9)
}

func TestPoissonNoiseHasDispersionOne(t *testing.T) {
	const mean = 400
	source := rand.NewPCG(1, 2)
	s := measure(minutes(14, func(int) float64 { return distuv.Poisson{Lambda: mean, Src: source}.Rand() }))
	// The median of 20,159 differences has a relative standard error near 1 %, so its square 2 %.
	near(t, "dispersion", s.Dispersion, 1, 0.08)
	near(t, "noise", s.Noise, 1/math.Sqrt(mean), 0.003)
	near(t, "memory", s.Minute, 0, 0.03)
	near(t, "share of the day", s.Day, 24.0/(14*24), 0.1) // 24 means fitted to 336 values.
}

func TestBrokenSeries(t *testing.T) {
	s := measure(minutes(4, func(i int) float64 {
		switch {
		case i >= 500 && i < 530:
			return math.NaN()
		case i >= 900 && i < 945:
			return 0
		case i >= 2880:
			return 30
		case i%1440 == 700 || i%1440 == 701:
			return 60
		}
		return 20
	}))
	near(t, "longest gap in minutes", s.Gap.Minutes(), 45, 0)
	near(t, "shift", s.Shift, 1.5, 0.02)
	near(t, "burst", s.Burst, 1, 0) // 2 of 2,820 minutes are below one in a thousand.
}

func TestTooShortIsNaN(t *testing.T) {
	s := measure(forecast.Series{Start: time.Unix(0, 0), Step: 10 * time.Second, Values: []float64{1, 2, 3}})
	for name, v := range map[string]float64{
		"day": s.Day, "hour": s.Hour, "next day": s.NextDay, "week": s.NextWeek, "burst": s.Burst, "shift": s.Shift,
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s of three values is %v, want NaN", name, v)
		}
	}
}
