package demand_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

const unitSeason = 24 * time.Hour

// unitDay is four days of a demand with a night, and noise.
func unitDay() forecast.Series {
	s := forecast.Series{Start: time.Unix(0, 0).Add(77 * time.Second).Truncate(classifyStep).UTC(), Step: classifyStep}
	for i := range 4 * day {
		at := 2 * math.Pi * float64(i) / day
		s.Values = append(s.Values, 100*(1.3+math.Sin(at))*(1+0.1*math.Sin(float64(i)*1.7)+0.1*math.Sin(float64(i*i))))
	}
	return s
}

// multiply multiplies samples of a range, the first ones by less, so that the factor is reached after a ramp.
func multiply(s forecast.Series, from, to, ramp int, factor float64) forecast.Series {
	s.Values = slices.Clone(s.Values)
	for i := from; i < min(to, len(s.Values)); i++ {
		s.Values[i] *= math.Pow(factor, math.Min(1, float64(i-from+1)/float64(ramp+1)))
	}
	return s
}

func changesOf(s forecast.Series) []demand.UnitChange {
	return demand.UnitChanges(s, unitSeason, s.End())
}

func TestUnitChanges(t *testing.T) {
	for _, factor := range []float64{1. / 86_400, 1. / 3600, 1. / 1024, 0.01, 1. / 60, 60, 100, 1000, 1024, 3600, 60_000, 1e6} {
		for _, from := range []int{3 * day, 3*day + day/4, 3*day + day/2, 3*day + 5*day/6} {
			for _, ramp := range []int{0, 4, 10} {
				s := multiply(unitDay(), from, math.MaxInt, ramp, factor)
				early := s.Slice(0, from+60)
				if got := changesOf(early); got != nil {
					t.Errorf("× %.4g, half an hour later: %v", factor, got)
				}
				for _, until := range []int{from + 110, from + 130, 4 * day} {
					got := changesOf(s.Slice(0, min(until, 4*day)))
					if len(got) != 1 || math.Abs(math.Log(got[0].Factor/factor)) > 0.03 ||
						got[0].From.Before(s.TimeAt(from)) || got[0].From.After(s.TimeAt(from+ramp/2)) ||
						got[0].To.Before(s.TimeAt(from+ramp/2)) || got[0].To.After(s.TimeAt(from+ramp)) {
						t.Errorf("× %.4g at %d within %d steps, known until %d: %v", factor, from, ramp, until, got)
					}
				}
			}
		}
	}
}

// A change that is undone is another change, and one near the beginning of the history is found by what comes after it.
func TestUnitChangesOfOneHistory(t *testing.T) {
	s := unitDay()
	s.Values = slices.Concat(s.Values, s.Values, s.Values)
	s = multiply(s, 8*day, 9*day, 0, 1./60)
	if got := changesOf(s); len(got) != 2 || got[0].Factor != 1./60 || got[1].Factor != 60 {
		t.Errorf("there and back: %v", got)
	}
	early := multiply(unitDay(), day/3, math.MaxInt, 2, 1./60)
	got := changesOf(early)
	if len(got) != 1 || math.Abs(got[0].Factor*60-1) > 1e-9 ||
		got[0].To.Sub(early.TimeAt(day/3)).Abs() > 2*time.Minute {
		t.Errorf("early: %v", got)
	}
	if soon := demand.UnitChanges(early, unitSeason, early.TimeAt(day)); soon != nil {
		t.Errorf("early, before the anchor knows a day and a half after it: %v", soon)
	}
	demand.ConvertUnit(early, got)
	for i, v := range unitDay().Values {
		if converted := early.Values[i] * 60; !math.IsNaN(converted) && math.Abs(converted/v-1) > 1e-9 {
			t.Fatalf("converted is %v at %d, want %v", converted, i, v)
		}
	}
}

// What a real demand does is not a change of its unit.
func TestNoUnitChanges(t *testing.T) {
	at := 3*day + day/2
	night := unitDay()
	for i := range night.Values {
		if i%day < day/3 {
			night.Values[i] /= 100 // A load that ends every evening.
		}
	}
	weekend := multiply(night, at, at+day/3, 0, 1./100)
	erratic := multiply(unitDay(), at, at+200, 0, 1./60)
	for i := at; i < at+200; i++ {
		erratic.Values[i] *= math.Exp(2 * math.Sin(float64(i/7)))
	}
	young := unitDay().Slice(0, day)
	for name, s := range map[string]forecast.Series{
		"nothing":                         unitDay(),
		"half of the traffic leaves":      multiply(unitDay(), at, math.MaxInt, 0, 0.5),
		"a region is drained":             multiply(unitDay(), at, math.MaxInt, 0, 1./8),
		"nine tenths leave":               multiply(unitDay(), at, math.MaxInt, 0, 0.1),
		"a launch × 10":                   multiply(unitDay(), at, math.MaxInt, 0, 10),
		"a launch × 25":                   multiply(unitDay(), at, math.MaxInt, 0, 25),
		"a migration within two hours":    multiply(unitDay(), at, math.MaxInt, 240, 1./60),
		"an outage":                       multiply(unitDay(), at, at+240, 0, 0),
		"half an hour of another unit":    multiply(unitDay(), at, at+60, 0, 1./60),
		"what is left is erratic":         erratic,
		"nights":                          night,
		"a day without the load of a day": weekend,
		"less than a day and a half":      multiply(young, day/2, math.MaxInt, 0, 60),
	} {
		if got := changesOf(s); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	long := unitDay()
	long.Step = 10 * time.Minute
	if got := changesOf(multiply(long, at, math.MaxInt, 0, 60)); got != nil {
		t.Errorf("at steps of ten minutes: %v", got)
	}
}

// No recorded demand changes its unit, whenever its history begins.
func TestRecordedDemandKeepsItsUnit(t *testing.T) {
	for name, s := range traces(t) {
		if s.Step < classifyStep {
			var err error
			if s, err = simulate.Resample(s, classifyStep); err != nil {
				continue // It is shorter than a step.
			}
		}
		perHour := int(time.Hour / s.Step)
		for from := 0; from < max(1, len(s.Values)-48*perHour); from += max(1, 11*perHour) {
			window := s.Slice(from, min(len(s.Values), from+7*24*perHour))
			if got := changesOf(window); got != nil {
				t.Errorf("%s from %s: %v", name, window.Start, got)
			}
		}
	}
}

// FuzzUnitChanges searches arbitrary samples.
func FuzzUnitChanges(f *testing.F) {
	f.Add([]byte{100, 100, 0, 255, 3}, uint16(700), int8(7))
	f.Add([]byte{100, 90, 110}, uint16(800), int8(-9))
	f.Fuzz(func(t *testing.T, pattern []byte, at uint16, exponent int8) {
		const step = 5 * time.Minute
		if len(pattern) == 0 {
			return
		}
		s := forecast.Series{Start: time.Unix(0, int64(at)*int64(step)), Step: step, Values: make([]float64, 1200)}
		for i := range s.Values {
			if s.Values[i] = float64(pattern[i%len(pattern)]); s.Values[i] == 255 {
				s.Values[i] = gap
			}
			if i > int(at)%len(s.Values) {
				s.Values[i] = math.Min(s.Values[i]*math.Exp2(float64(exponent)), 1e15)
			}
		}
		changes := demand.UnitChanges(s, unitSeason, s.TimeAt(int(at)%len(s.Values)))
		for i, c := range changes {
			if !(c.Factor > 0) || math.IsInf(c.Factor, 0) || c.To.Before(c.From) || c.To.After(s.End()) ||
				i > 0 && c.From.Before(changes[i-1].To) {
				t.Errorf("%v", changes)
			}
		}
		demand.ConvertUnit(s, changes)
		for _, v := range s.Values {
			if v < 0 || v > 1e15 {
				t.Errorf("%v after %v", v, changes)
			}
		}
	})
}
