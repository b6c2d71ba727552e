package forecaster_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// byHours is a demand by the minute: 200 from nine to six, and nothing at night.
func byHours(minute int) float64 {
	if m := minute % 1440; m >= 9*60 && m < 18*60 {
		return 200 + 20*math.Sin(float64(minute))
	}
	return 0
}

// sleeper has seen a number of minutes of an byHours's demand. Its workload may scale to zero, and a replica sustains 10.
func sleeper(minutes int, load func(minute int) float64, change func(*forecaster.Config)) *forecaster.Forecaster {
	c := config()
	c.Step, c.Window = time.Minute, 4*time.Minute
	c.Settings = decide.Settings{
		Late: 0.01, Mode: decide.Floor, Target: 10, Lead: 3 * time.Minute, Window: c.Window, ZeroBelow: 1,
	}
	c.Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: stock(10)}}
	if change != nil {
		change(&c)
	}
	past := history(minutes, load)
	past.Step = c.Step
	return forecaster.New(c, past)
}

// play steps a forecaster from one minute to another, and returns the minutes from which on the workload is asleep and awake.
func play(f *forecaster.Forecaster, from, to int, load func(minute int) float64) (changes []int) {
	before := describe(f).Decision.Zero.Asleep
	for minute := from; minute < to; minute++ {
		f.Step(plain(load(minute)))
		if now := describe(f).Decision.Zero.Asleep; now != before {
			changes, before = append(changes, minute), now
		}
	}
	return changes
}

// The workload sleeps soon after the office closes, and is awake two lead windows before it opens.
func TestSleepsAtNight(t *testing.T) {
	f := sleeper(5*1440, byHours, nil)
	if d := describe(f).Decision; !d.Zero.Asleep || d.Value != 0 || d.WithoutZero() == 0 {
		t.Fatalf("at midnight: %+v", d)
	}
	changes := play(f, 5*1440, 6*1440, byHours)
	const opens, closes = 5*1440 + 9*60, 5*1440 + 18*60
	// A candidate may expect demand for a moment at night, and be wrong.
	if len(changes) < 2 || len(changes) > 4 || !describe(f).Decision.Zero.Asleep {
		t.Fatalf("it wakes and sleeps at %v", changes)
	}
	if changes[0] > opens-4 || changes[0] < opens-15 ||
		changes[1] < closes || changes[1] > closes+30 {
		t.Errorf("it wakes and sleeps at %v, the office is open from %d to %d", changes, opens, closes)
	}
}

// A rise that no replica was there to report is expected again on the next day, and on Monday after a weekend.
func TestAMissedRiseIsExpectedAgain(t *testing.T) {
	missed := func(minute int) float64 {
		if day := minute / 1440; day == 5 || day == 6 {
			return 0
		}
		return byHours(minute)
	}
	f := sleeper(7*1440, missed, nil)
	changes := play(f, 7*1440, 7*1440+9*60, missed)
	if len(changes) != 1 || changes[0] < 7*1440+9*60-15 {
		t.Errorf("after two days without demand, it wakes at %v", changes)
	}
}

// A gap does not put a workload to sleep, and does not wake one.
func TestAGapIsNoEvidenceOfZero(t *testing.T) {
	const evening, night = 5*1440 + 18*60, 5*1440 + 23*60
	f := sleeper(evening, byHours, nil)
	if changes := play(f, evening, evening+120, func(int) float64 { return math.NaN() }); len(changes) > 0 {
		t.Errorf("two hours of gaps put it to sleep at %v", changes)
	}
	f = sleeper(night, byHours, nil)
	if !describe(f).Decision.Zero.Asleep {
		t.Fatal("it does not sleep at eleven")
	}
	if changes := play(f, night, night+5, func(int) float64 { return math.NaN() }); len(changes) > 0 {
		t.Errorf("a gap of five minutes wakes it at %v", changes)
	}
	if d := f.Fallback(); d.Value != 0 || !d.Zero.Asleep {
		t.Errorf("asleep, the fallback is %+v", d)
	}
}

// A gap a season ago leaves the selected candidate without a forecast. The workload sleeps on, unless demand is observed.
func TestAGapASeasonAgoDoesNotWake(t *testing.T) {
	const night = 6*1440 + 3*60
	load := func(minute int) float64 {
		if from := minute - (night - 1440); from >= 0 && from < 20 {
			return math.NaN()
		}
		return math.Round(byHours(minute)/100) * 100
	}
	f := sleeper(night-60, load, func(c *forecaster.Config) {
		c.Settings.Late, c.Settings.Quantile, c.Autoscalers, c.Models = 0, 0.95, nil, []string{"regression"}
	})
	undecided := 0
	for minute := night - 60; minute < night+60; minute++ {
		f.Step(plain(load(minute)))
		d := describe(f).Decision
		if !f.Decided() {
			undecided++
			d = f.Fallback()
		}
		if !d.Zero.Asleep || d.Value != 0 {
			t.Fatalf("minute %d: it wakes, decided: %v: %+v", minute-night, f.Decided(), d)
		}
	}
	if undecided == 0 {
		t.Fatal("there is a forecast at every step")
	}
	f.Step(plain(5))
	if d := f.Fallback(); d.Zero.Asleep || d.Value == 0 {
		t.Errorf("demand does not wake it: %+v", d)
	}
}

// The samples of replicas are missing for some seconds when the last one goes. A season later, the workload falls asleep in time all the same.
func TestAGapAtEachNightfallDelaysNone(t *testing.T) {
	const cycle, pulse, window, gap = 460, 20, 86, 17
	pulses := func(second int) float64 {
		if second%cycle < pulse {
			return 30
		}
		return 0
	}
	f := sleeper(6*cycle, pulses, func(c *forecaster.Config) {
		c.Step, c.Window, c.Seasons = time.Second, window*time.Second, []time.Duration{cycle * time.Second}
		c.Settings = decide.Settings{Quantile: 0.95, Mode: decide.Floor, Window: c.Window, ZeroBelow: 1}
		c.Autoscalers, c.Models = nil, []string{"regression"}
	})
	asleep, left, undecided := false, 0, 0
	for second := 6 * cycle; second < 12*cycle; second++ {
		v := pulses(second)
		if left > 0 {
			v, left = math.NaN(), left-1
		}
		f.Step(plain(v))
		d := describe(f).Decision
		if !f.Decided() {
			undecided++
			d = f.Fallback()
		}
		if now := d.Zero.Asleep; now != asleep {
			if asleep = now; asleep {
				left = gap
				if since := second%cycle - pulse; since > 2*window {
					t.Errorf("cycle %d: it falls asleep %d s after the last request", second/cycle, since)
				}
			} else if ahead := cycle - second%cycle; ahead > 2*window {
				t.Errorf("cycle %d: it wakes %d s before the first request", second/cycle, ahead)
			}
		}
	}
	if undecided == 0 {
		t.Fatal("there is a forecast at every step")
	}
}

// A source that reports 0 for some minutes of a busy day is doubted: nothing is stopped.
func TestZerosOfABusyDayAreDoubted(t *testing.T) {
	const noon = 5*1440 + 12*60
	f := sleeper(noon, byHours, nil)
	if changes := play(f, noon, noon+9, func(int) float64 { return 0 }); len(changes) > 0 {
		t.Errorf("nine minutes of zeros at noon put it to sleep at %v", changes)
	}
}

// A return of the demand is due two lead windows before its time on the next days and a week later, and on no other day.
func TestWhenAReturnIsDue(t *testing.T) {
	once := func(minute int) float64 {
		if minute >= 1440+540 && minute < 1440+600 {
			return 200
		}
		return 0
	}
	f := sleeper(2*1440, once, nil)
	for day, want := range map[int]int{2: 2, 3: 3, 4: 4, 5: 8, 8: 8} {
		g := f.Clone()
		play(g, 2*1440, day*1440, once)
		if got, at := describe(g).ReturnDue, start.Add(time.Duration(want*1440+540-8)*time.Minute); !got.Equal(at) {
			t.Errorf("on day %d it is due at %s, want %s", day, got, at)
		}
	}
	play(f, 2*1440, 9*1440, once)
	if got := describe(f).ReturnDue; !got.IsZero() {
		t.Errorf("after more than a week it is due at %s", got)
	}
}

// Awake, the value is at least a thousandth, at which an HPA keeps one replica: not even the fallback puts a workload to sleep.
func TestAwakeIsAboveZero(t *testing.T) {
	f := sleeper(60, func(int) float64 { return 0 }, func(c *forecaster.Config) { c.Window = 2 * time.Hour })
	if d := describe(f).Decision; d.Zero.Asleep || d.Value != 0.001 {
		t.Errorf("after an hour without demand: %+v", d)
	}
	if d := f.Fallback(); d.Value != 0.001 || d.Zero.Asleep {
		t.Errorf("the fallback is %+v", d)
	}
}

// An event keeps the workload awake although nothing is expected without it, and so does deferrable work.
func TestEventsAndWorkKeepAwake(t *testing.T) {
	const night = 5*1440 + 22*60
	for _, known := range []event.Knowledge{{AtLeast: 50}, {Replicas: 5}} {
		f := sleeper(night, byHours, func(c *forecaster.Config) {
			c.Adjust = event.Adjust(calendar.Of([]calendar.Event{{
				Name: "launch", Start: "2026-11-07T23:00", Duration: time.Hour, Knowledge: known,
			}}))
		})
		changes := play(f, night, night+180, byHours)
		if len(changes) != 2 || changes[0] > night+60 || changes[1] < night+120 {
			t.Errorf("with an event from %d to %d (%s) it wakes and sleeps at %v", night+60, night+120, known, changes)
		}
	}
	f := sleeper(night, byHours, func(c *forecaster.Config) { c.Deadline = time.Hour })
	if !describe(f).Decision.Zero.Asleep {
		t.Fatal("it does not sleep without work")
	}
	f.Step(demand.Reading{Deferrable: 5})
	if describe(f).Decision.Zero.Asleep {
		t.Error("work has arrived, and it sleeps")
	}
}

// Without a tenth of a replica, nothing is different from a workload that may not scale to zero: the same bits.
func TestWithoutTheRuleTheBitsAreTheSame(t *testing.T) {
	with := sleeper(3*1440, byHours, nil)
	without := sleeper(3*1440, byHours, func(c *forecaster.Config) { c.Settings.ZeroBelow = 0 })
	for minute := 3 * 1440; minute < 4*1440; minute++ {
		with.Step(plain(byHours(minute)))
		without.Step(plain(byHours(minute)))
		a, b := describe(with).Decision, describe(without).Decision
		if a.WithoutZero() != b.Value || b.Zero.Applies {
			t.Fatalf("at minute %d: %v with the rule, %v without", minute, a.WithoutZero(), b.Value)
		}
	}
}
