package forecaster_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// shopping is a day with a rise at nine, a lunch break and quiet nights, with noise.
func shopping(rng *rand.Rand) func(time.Time) float64 {
	return func(at time.Time) float64 {
		mean := 20.0
		switch hour := at.Hour(); {
		case hour == 13:
			mean = 80
		case hour >= 9 && hour < 18:
			mean = 120
		}
		return mean * (1 + 0.1*rng.NormFloat64())
	}
}

// played is a forecaster after a demand of 5-minute samples up to a time.
func played(demand func(time.Time) float64, days float64, end time.Time) *forecaster.Forecaster {
	c := config()
	c.Step, c.Window = 5*time.Minute, 10*time.Minute
	s := forecast.Series{Step: c.Step, Start: end.Add(-time.Duration(days * float64(24*time.Hour)))}
	for at := s.Start; at.Before(end); at = at.Add(c.Step) {
		s.Values = append(s.Values, demand(at))
	}
	return forecaster.New(c, forecaster.History{Series: s})
}

func TestNextDayHasTheShapeOfTheDay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	begin := time.Date(2026, 3, 12, 2, 5, 0, 0, time.UTC)
	known := played(shopping(rng), 8, begin).Hours()
	hours := known.NextDay()
	if len(hours) != 24 || !hours[0].Time.Equal(time.Date(2026, 3, 12, 2, 0, 0, 0, time.UTC)) {
		t.Fatalf("%d hours from %v, want 24 from the hour that has begun", len(hours), hours)
	}
	if means := known.Means(); !means.TimeAt(means.Len()-1).Equal(hours[0].Time) || means.Step != time.Hour {
		t.Errorf("the last of the hours ends at %s, want %s", means.TimeAt(means.Len()-1), hours[0].Time)
	}
	quiet := shopping(rand.New(rand.NewPCG(0, 0)))
	var wrong, all, within float64
	for _, hour := range hours {
		came := 0.0
		for i := range 60 {
			came += quiet(hour.Time.Add(time.Duration(i)*time.Minute)) / 60
		}
		wrong += math.Abs(hour.Quantiles[0] - came)
		all += came
		if came <= hour.Quantiles[2] {
			within++
		}
	}
	if share := wrong / all; share > 0.05 {
		t.Errorf("the median is wrong by %.1f %%, want 5 at most\n%v", 100*share, hours)
	}
	if within < 20 {
		t.Errorf("%v of 24 hours are within the 0.95 quantile", within)
	}
}

// Before a day is known there is no shape, and what happens after Hours has been called changes nothing.
func TestNextDayNeedsADay(t *testing.T) {
	demand := shopping(rand.New(rand.NewPCG(6, 6)))
	if got := played(demand, 0.9, start).Hours().NextDay(); got != nil {
		t.Errorf("%d hours after 22, want none", len(got))
	}
	f := played(demand, 3, start)
	hours := f.Hours()
	before := hours.NextDay()
	for range 50 {
		f.Step(plain(5000))
	}
	for i, hour := range hours.NextDay() {
		if hour != before[i] {
			t.Fatalf("hour %d is %v, and was %v", i, hour, before[i])
		}
	}
}

// FuzzNextDay feeds arbitrary demand of half hours, with gaps and magnitudes.
func FuzzNextDay(f *testing.F) {
	f.Add([]byte{0, 1, 2, 255, 200, 7})
	f.Add([]byte{245, 245, 0, 0, 250, 1})
	f.Fuzz(func(t *testing.T, samples []byte) {
		if len(samples) == 0 {
			return
		}
		c := config()
		c.Step, c.Window = 30*time.Minute, 30*time.Minute
		s := forecast.Series{Start: start, Step: c.Step}
		highest := 0.0
		for i := range 200 {
			switch b := samples[i%len(samples)]; {
			case b == 255:
				s.Values = append(s.Values, gap)
				continue
			case b > 240:
				s.Values = append(s.Values, math.Pow(10, float64(b)-240))
			default:
				s.Values = append(s.Values, float64(b))
			}
			highest = max(highest, s.Values[i])
		}
		for _, hour := range forecaster.New(c, forecaster.History{Series: s}).Hours().NextDay() {
			for _, v := range append(hour.Quantiles[:], hour.Point) {
				if !(v >= 0 && v <= 4*highest) {
					t.Fatalf("%v of at most %v", hour, highest)
				}
			}
		}
	})
}

func BenchmarkNextDay(b *testing.B) {
	hours := played(shopping(rand.New(rand.NewPCG(7, 7))), 14, start).Hours()
	var kept []snapshot.PathStep
	for b.Loop() {
		kept = hours.NextDay()
	}
	_ = kept
}
