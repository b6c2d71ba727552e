package demo //nolint:testpackage // What the demo plays is nobody else's.

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// ramp is a trace whose values are their own indices.
func ramp(n int, step time.Duration) forecast.Series {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	return forecast.Series{Start: time.Unix(0, 0), Step: step, Values: values}
}

func play(t *testing.T, trace forecast.Series) *Playback {
	t.Helper()
	p, err := NewPlayback(trace, noon.Add(7*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNineTenthsLieBehindNow(t *testing.T) {
	p := play(t, ramp(100, time.Minute))
	if want := noon.Add(-90 * time.Minute); !p.Start().Equal(want) {
		t.Errorf("the trace starts at %v, want %v", p.Start(), want)
	}
	if got, ok := p.At(noon); !ok || got != 90 {
		t.Errorf("now plays %v (%v), want step 90", got, ok)
	}
	if got, ok := p.At(p.Start().Add(-time.Nanosecond)); ok {
		t.Errorf("before the start plays %v, want nothing", got)
	}
}

func TestAfterTheEndTheSameTimeOfDayComesAgain(t *testing.T) {
	hours := func(n int) time.Duration { return time.Duration(n) * time.Hour }
	for _, c := range []struct {
		name  string
		trace forecast.Series
		at    time.Duration
		want  float64
	}{
		{"the last hour of three days", ramp(72, time.Hour), hours(71), 71},
		{"three whole days begin anew", ramp(72, time.Hour), hours(72), 0},
		{"and anew", ramp(72, time.Hour), hours(2*72 + 5), 5},
		{"three days and 4 hours go on at the fifth hour of the first", ramp(76, time.Hour), hours(76), 4},
		{"and so the second time", ramp(76, time.Hour), hours(76 + 72), 4},
		{"with the hours between in order", ramp(76, time.Hour), hours(76 + 71), 75},
		{"less than a day begins anew", ramp(100, time.Minute), 100 * time.Minute, 0},
		{"a step that divides no day begins anew", ramp(100, 7*hours(1)), 100 * hours(7), 0},
		{"years later it still plays", ramp(72, time.Hour), hours(72*1000 + 30), 30},
	} {
		p := play(t, c.trace)
		if got, ok := p.At(p.Start().Add(c.at)); !ok || got != c.want {
			t.Errorf("%s: plays %v (%v), want %v", c.name, got, ok, c.want)
		}
	}
}

func TestCountNeverFallsAndGrowsByTheTrace(t *testing.T) {
	trace := ramp(76, time.Hour)
	trace.Values[10] = math.NaN()
	p := play(t, trace)
	last := 0.0
	for at := time.Duration(0); at < 400*time.Hour; at += 20 * time.Minute {
		value, playing := p.At(p.Start().Add(at))
		count, ok := p.Count(p.Start().Add(at))
		if ok != playing {
			t.Fatalf("%v: counting is %v while playing is %v", at, ok, playing)
		}
		if !ok {
			continue
		}
		if count < last {
			t.Fatalf("%v: the count falls from %v to %v", at, last, count)
		}
		next, ok := p.Count(p.Start().Add(at + 10*time.Minute))
		if grown := next - count; ok && math.Abs(grown-value/6) > 1e-6 {
			t.Fatalf("%v: ten minutes count %v, want a sixth of %v", at, grown, value)
		}
		last = count
	}
}

func TestAGapPlaysNothing(t *testing.T) {
	trace := ramp(100, time.Minute)
	trace.Values[20], trace.Values[21] = math.NaN(), math.NaN()
	p := play(t, trace)
	gap := p.Start().Add(20*time.Minute + time.Second)
	if v, ok := p.At(gap); ok {
		t.Errorf("a gap plays %v", v)
	}
	if v, ok := p.Count(gap); ok {
		t.Errorf("a gap counts %v", v)
	}
	before, _ := p.Count(p.Start().Add(20*time.Minute - time.Nanosecond))
	after, _ := p.Count(p.Start().Add(22 * time.Minute))
	if math.Abs(after-before) > 1e-6 {
		t.Errorf("the count goes from %v to %v over the gap, want no growth", before, after)
	}
}

func TestTracesThatCannotBePlayed(t *testing.T) {
	negative, infinite := ramp(100, time.Minute), ramp(100, time.Minute)
	negative.Values[33], infinite.Values[34] = -1, math.Inf(1)
	for _, c := range []struct {
		name, want string
		trace      forecast.Series
	}{
		{"too short", "want 60", ramp(59, time.Minute)},
		{"negative", "-1 at step 33", negative},
		{"infinite", "value 34 is +Inf", infinite},
		{"no step", "step 0s", ramp(100, 0)},
	} {
		if _, err := NewPlayback(c.trace, noon); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
