package demo //nolint:testpackage // What the demo plays is internal.

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// ramp is a trace whose values are their own indices.
func ramp(n int, step time.Duration) forecast.Series {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	return forecast.Series{Start: noon, Step: step, Values: values}
}

func play(t *testing.T, trace forecast.Series) *playback {
	t.Helper()
	p, err := newPlayback(trace)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAfterTheEndTheSameTimeOfDayComesAgain(t *testing.T) {
	hours := func(n int) time.Duration { return time.Duration(n) * time.Hour }
	for _, c := range []struct {
		name  string
		trace forecast.Series
		at    time.Duration
		want  float64
	}{
		{"before the start there is nothing", ramp(72, time.Hour), -1, math.NaN()},
		{"the last hour of three days", ramp(72, time.Hour), hours(71), 71},
		{"three whole days begin again", ramp(72, time.Hour), hours(72), 0},
		{"and again", ramp(72, time.Hour), hours(2*72 + 5), 5},
		{"three days and 4 hours go on at the fifth hour of the first", ramp(76, time.Hour), hours(76), 4},
		{"and so the second time", ramp(76, time.Hour), hours(76 + 72), 4},
		{"with the hours between in order", ramp(76, time.Hour), hours(76 + 71), 75},
		{"less than a day begins again", ramp(100, time.Minute), 100 * time.Minute, 0},
		{"a step that divides no day begins again", ramp(100, 7*hours(1)), 100 * hours(7), 0},
		{"years later it still plays", ramp(72, time.Hour), hours(72*1000 + 30), 30},
	} {
		if got := play(t, c.trace).at(noon.Add(c.at)); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: plays %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTracesThatCannotBePlayed(t *testing.T) {
	negative, infinite, gaps := ramp(100, time.Minute), ramp(100, time.Minute), ramp(100, time.Minute)
	negative.Values[33], infinite.Values[34] = -1, math.Inf(1)
	for i := range 50 {
		gaps.Values[i] = math.NaN()
	}
	idle := ramp(100, time.Minute)
	clear(idle.Values)
	for _, c := range []struct {
		name, want string
		trace      forecast.Series
	}{
		{"too short", "only 59 rows have a value, but a forecast needs 60", ramp(59, time.Minute)},
		{"gaps", "50 rows have a value", gaps},
		{"negative", "-1 at step 33", negative},
		{"infinite", "value 34 is +Inf", infinite},
		{"no demand", "every value is 0", idle},
		{"no step", "step 0s", ramp(100, 0)},
	} {
		if _, err := newPlayback(c.trace); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// steps are a number of days of minutes, at 10, and at 20 from an hour on.
func opened(days, hour int) forecast.Series {
	s := ramp(days*1440, time.Minute)
	for i := range s.Values {
		s.Values[i] = 10
		if i%1440 >= hour*60 {
			s.Values[i] = 20
		}
	}
	return s
}

func TestTheDemoBeginsBeforeARiseThatWasThereTheDayBefore(t *testing.T) {
	daily := opened(4, 9)
	for i := 3*1440 + 600; i < 3*1440+660; i++ {
		daily.Values[i] = 100 // Higher, and on one day alone.
	}
	daily.Values[2*1440+530] = math.NaN()
	// Of days that are the same the first is as good as any.
	if want := noon.Add(2*day + 9*time.Hour); !largestRise(daily).Equal(want) {
		t.Errorf("the largest rise is at %v, want %v", largestRise(daily), want)
	}
	short := opened(1, 15)
	if want := noon.Add(15 * time.Hour); !largestRise(short).Equal(want) {
		t.Errorf("in a day it is at %v, want %v", largestRise(short), want)
	}
	tiny := ramp(60, time.Second)
	if at := largestRise(tiny); at.Before(tiny.Start) || !at.Before(tiny.End()) {
		t.Errorf("in a minute it is at %v", at)
	}
}

var noon = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

func TestTheClockRunsFasterThanLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, c := time.Now(), startClock(noon, 60)
		if err := c.WaitUntil(t.Context(), noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(life).Round(time.Millisecond); took != time.Second {
			t.Errorf("a minute takes %v of life, want 1s", took)
		}
		if now := c.Now(); now.Before(noon.Add(time.Minute)) || now.After(noon.Add(61*time.Second)) {
			t.Errorf("it is %v after a minute", now)
		}
		if err := c.WaitUntil(t.Context(), noon); err != nil || time.Since(life) > 2*time.Second {
			t.Errorf("waiting for what is past: %v after %v", err, time.Since(life))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.WaitUntil(ended, noon.Add(time.Hour)); err == nil {
			t.Error("the wait goes on after its context")
		}
	})
}

// A loop that steps at each multiple of a step must not wake before it, at any speed.
func TestTheClockIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, speed := range []float64{1, 7, 60, 333.3, 600} {
			c := startClock(noon, speed)
			for i := range 200 {
				next := noon.Add(time.Duration(i) * 1001 * time.Millisecond)
				if err := c.WaitUntil(t.Context(), next); err != nil || c.Now().Before(next) {
					t.Fatalf("at speed %v it is %v, waited for %v (%v)", speed, c.Now(), next, err)
				}
			}
		}
	})
}
