package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// now is a Monday, at 07:00.
func now() time.Time { return time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC) }

// office returns a member that asks for 4 replicas at night and on weekends, and for 20 from 8 to 18 on weekdays.
func office(name string) fleet.Member {
	return member(name, func(at time.Time) float64 {
		if day := at.Weekday(); day == time.Saturday || day == time.Sunday || at.Hour() < 8 || at.Hour() >= 18 {
			return 4
		}
		return 20
	})
}

// member returns a member with a target of 1 and a GPU for a replica, that has asked for some replicas for two weeks.
func member(name string, replicas func(time.Time) float64) fleet.Member {
	s := forecast.Series{Start: now().Add(-14 * 24 * time.Hour), Step: fleet.Cell}
	for at := s.Start; !at.After(now()); at = at.Add(s.Step) {
		s.Values = append(s.Values, replicas(at.Add(-1)))
	}
	served := s.Values[len(s.Values)-1]
	return fleet.Member{
		Name: name, GPUs: 1, Target: 1, MinReplicas: 1, MaxReplicas: 100,
		Outlook: fleet.Outlook{Served: served, ServedPeaks: s, Window: 10 * time.Minute},
	}
}

func batch(run time.Duration) fleet.Consumer {
	return fleet.Consumer{Name: "embeddings", GPUs: 1, Share: 1, Run: run}
}

func plan(t *testing.T, at time.Time, f fleet.Fleet) fleet.Plan {
	t.Helper()
	var p fleet.Planner
	return p.Plan(at, f)
}

// At night, batch work has all GPUs but four. Runs that would last into the morning are not started.
func TestRunsEndBeforeTheRamp(t *testing.T) {
	f := fleet.Fleet{
		GPUs: 32, Members: []fleet.Member{office("chat")}, Batch: []fleet.Consumer{batch(20 * time.Minute)},
	}
	for _, c := range []struct {
		at   string
		want int
	}{{"07:00", 28}, {"07:25", 28}, {"07:40", 12}, {"07:59", 12}} {
		at, err := time.Parse("15:04", c.at)
		if err != nil {
			t.Fatal(err)
		}
		when := now().Add(time.Duration(at.Hour()-7)*time.Hour + time.Duration(at.Minute())*time.Minute)
		f.Members[0] = extended(office("chat"), when)
		if got := plan(t, when, f).Batch[0]; got.Replicas != c.want {
			t.Errorf("at %s: %d batch replicas, want %d: %+v", c.at, got.Replicas, c.want, got)
		}
	}
}

// A ramp that began within the 5 minutes of the history yesterday, and begins up to 5 minutes later today. Until it begins, what the members ask
// for now says nothing about it. While it lasts, they already ask for more than in the cell before, and still for less than in its own: neither is
// a difference to yesterday.
func TestARampWithinTheCell(t *testing.T) {
	f := fleet.Fleet{GPUs: 32, Batch: []fleet.Consumer{batch(20 * time.Minute)}}
	m := member("chat", func(at time.Time) float64 {
		if sinceMidnight := at.Sub(at.Truncate(24 * time.Hour)); sinceMidnight < 8*time.Hour+2*time.Minute {
			return 4
		}
		return 20
	})
	for _, minutes := range []int{45, 59, 60, 61, 62, 63, 65, 67} {
		at := now().Add(time.Duration(minutes) * time.Minute)
		m.Served = 4
		f.Members = []fleet.Member{extended(m, at)}
		for served := 4.0; served == 4 || minutes >= 60 && served <= 20; served++ {
			f.Members[0].Served = served
			if got := plan(t, at, f).Batch[0]; got.Replicas != 12 {
				t.Errorf("at %s with %v: %+v, want 12 batch replicas", at.Format("15:04"), served, got)
			}
		}
	}
}

// extended continues a member's history with its present value.
func extended(m fleet.Member, until time.Time) fleet.Member {
	for m.ServedPeaks.End().Before(until) {
		m.ServedPeaks.Values = append(m.ServedPeaks.Values, m.Served)
	}
	return m
}

// On Monday morning, Sunday says nothing about the ramp: the Monday before does.
func TestMondayIsNotLikeSunday(t *testing.T) {
	m := office("chat")
	f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{m}, Batch: []fleet.Consumer{batch(2 * time.Hour)}}
	if got := plan(t, now(), f).Batch[0].Replicas; got != 12 {
		t.Errorf("%d batch replicas an hour before the ramp, want 12", got)
	}
	short := m
	short.ServedPeaks.Start = m.ServedPeaks.Start.Add(10 * 24 * time.Hour)
	short.ServedPeaks.Values = m.ServedPeaks.Values[10*288:]
	f.Members = []fleet.Member{short}
	if got := plan(t, now(), f).Batch[0].Replicas; got != 28 {
		t.Errorf("%d batch replicas without a week of history, want 28: nothing tells of the ramp", got)
	}
}

// A member whose forecast cannot be used, or that is new, counts with all replicas that it may have.
func TestUnknownMembersCountWithTheirMaximum(t *testing.T) {
	for name, change := range map[string]func(*fleet.Member){
		"is stale": func(m *fleet.Member) { m.Unreliable = "is stale" },
		"has less than two days of history": func(m *fleet.Member) {
			m.ServedPeaks.Start, m.ServedPeaks.Values = m.ServedPeaks.End().Add(-40*time.Hour), m.ServedPeaks.Values[:481]
		},
		"has no known target":                func(m *fleet.Member) { m.Target = 0 },
		" has less than two days of history": func(m *fleet.Member) { m.ServedPeaks = forecast.Series{} },
	} {
		m := office("chat")
		m.MaxReplicas = 25
		change(&m)
		f := fleet.Fleet{GPUs: 64, Members: []fleet.Member{m, office("code")}}
		f.Batch = []fleet.Consumer{batch(20 * time.Minute)}
		p := plan(t, now(), f)
		if got := p.Batch[0]; got.Replicas != 64-25-4 {
			t.Errorf("%s: %d batch replicas, want %d", name, got.Replicas, 64-25-4)
		}
		if want := []string{"chat " + strings.TrimSpace(name)}; !slices.Equal(p.Unknown, want) {
			t.Errorf("unknown: %q, want %q", p.Unknown, want)
		}
		f.Members[0].MaxReplicas = 0
		if got := plan(t, now(), f).Batch[0]; got.Replicas != 0 || !math.IsInf(got.Need, 1) {
			t.Errorf("%s and without a maximum: %+v, want no batch replica", name, got)
		}
	}
}

// What members hold counts, whatever was expected: pods, those that are terminating too, what the autoscalers read, and the minimum.
func TestWhatMembersHoldCounts(t *testing.T) {
	for name, change := range map[string]func(*fleet.Member){
		"present": func(m *fleet.Member) { m.Present = 30 },
		"minimum": func(m *fleet.Member) { m.MinReplicas = 30 },
		"served":  func(m *fleet.Member) { m.Served = 29.5 },
	} {
		m := office("chat")
		change(&m)
		f := fleet.Fleet{GPUs: 32, Other: 1, Members: []fleet.Member{m}}
		f.Batch = []fleet.Consumer{batch(20 * time.Minute)}
		if got := plan(t, now(), f); got.Members != 30 || got.Batch[0].Replicas > 1 {
			t.Errorf("%s: members %v, batch %+v; want 30 and at most 1 replica", name, got.Members, got.Batch[0])
		}
	}
}

// An event that the past does not show: in the member's own windows, or later than they reach.
func TestEventsCount(t *testing.T) {
	at := now()
	for name, c := range map[string]struct {
		change func(*fleet.Member)
		want   int
	}{
		"in the windows": {func(m *fleet.Member) {
			m.Windows = []windowpeak.Window{{Horizon: time.Hour, Quantiles: flat(24)}}
		}, 8},
		"replicas": {func(m *fleet.Member) {
			m.Events = []event.Occurrence{{
				Start: at.Add(time.Hour), End: at.Add(2 * time.Hour), Knowledge: event.Knowledge{Replicas: 24},
			}}
		}, 8},
		"beyond the windows": {func(m *fleet.Member) {
			m.Windows = []windowpeak.Window{{Horizon: time.Hour, Quantiles: flat(6)}}
			m.Events = []event.Occurrence{{
				Start: at.Add(80 * time.Minute), End: at.Add(2 * time.Hour), Knowledge: event.Knowledge{Times: 4},
			}}
		}, 8},
		"replicas, with a demand that is too large": {func(m *fleet.Member) {
			m.Windows = []windowpeak.Window{{Horizon: time.Hour, Quantiles: flat(math.Inf(1))}}
			m.Events = []event.Occurrence{{
				Start: at.Add(time.Hour), End: at.Add(2 * time.Hour), Knowledge: event.Knowledge{Replicas: 24},
			}}
		}, 8},
		"past": {func(m *fleet.Member) {
			m.Events = []event.Occurrence{{
				Start: at.Add(-time.Hour), End: at, Knowledge: event.Knowledge{Replicas: 24},
			}}
		}, 28},
	} {
		m := member("chat", func(time.Time) float64 { return 4 })
		c.change(&m)
		f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{m}, Batch: []fleet.Consumer{batch(90 * time.Minute)}}
		if got := plan(t, at, f).Batch[0]; got.Replicas != c.want {
			t.Errorf("%s: %+v, want %d replicas", name, got, c.want)
		}
	}
}

func flat(v float64) (q windowpeak.Quantiles) {
	for i := range q {
		q[i] = v
	}
	return q
}

// Members that peak at different times of the day need less together than each at its own peak.
func TestMembersThatPeakAtDifferentTimes(t *testing.T) {
	at := func(hour int) func(time.Time) float64 {
		return func(at time.Time) float64 {
			if at.Hour() == hour {
				return 20
			}
			return 2
		}
	}
	f := fleet.Fleet{
		GPUs: 40, Members: []fleet.Member{member("a", at(7)), member("b", at(8))},
		Batch: []fleet.Consumer{batch(20 * time.Minute)},
	}
	f.Members[0].Served = 20
	if got := plan(t, now(), f).Batch[0]; got.Replicas != 18 {
		t.Errorf("%+v, want 18 batch replicas", got)
	}
}

// The margin is as large as the days before require: with bursts at random times it is larger than without.
func TestMarginFollowsThePast(t *testing.T) {
	calm := plan(t, now(), fleet.Fleet{
		GPUs: 40, Members: []fleet.Member{office("a")}, Batch: []fleet.Consumer{batch(time.Hour)},
	}).Batch[0]
	if calm.Margin != 0 {
		t.Errorf("margin %v for days that repeat, want 0", calm.Margin)
	}
	wild := plan(t, now(), fleet.Fleet{
		GPUs: 40, Batch: []fleet.Consumer{batch(time.Hour)},
		Members: []fleet.Member{member("a", func(at time.Time) float64 {
			if rand.New(rand.NewPCG(uint64(at.Unix()/300), 1)).IntN(40) == 0 {
				return 30
			}
			return 20
		})},
	}).Batch[0]
	if !(wild.Margin >= 0.05) {
		t.Errorf("margin %v for random bursts, want at least 0.05", wild.Margin)
	}
}

// Peaks on another grid than the cells have the same plan, if they are the same.
func TestPeaksOnAnotherGrid(t *testing.T) {
	at := now().Add(-20 * time.Minute) // 06:40: runs of two hours reach into the ramp.
	for _, step := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
		m, other := office("chat"), office("chat")
		s := forecast.Series{Start: m.ServedPeaks.Start, Step: step}
		for end := s.Start; !end.After(now()); end = end.Add(step) {
			s.Values = append(s.Values, m.ServedPeaks.Values[int(end.Sub(s.Start)/fleet.Cell)])
		}
		other.ServedPeaks = s
		consumers := []fleet.Consumer{batch(20 * time.Minute), batch(2 * time.Hour)}
		f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{m}, Batch: consumers}
		want := plan(t, at, f)
		f.Members[0] = other
		got := plan(t, at, f)
		if fmt.Sprint(got) != fmt.Sprint(want) || got.Batch[0].Replicas != 14 || got.Batch[1].Replicas != 6 {
			t.Errorf("peaks of %s: %+v, want %+v", step, got.Batch, want.Batch)
		}
	}
}

// A new Planner, for example after a restart, has the same plans as one that ran for hours.
func TestAPlannerHasNoState(t *testing.T) {
	var old fleet.Planner
	f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{office("chat"), office("code")}}
	f.Batch = []fleet.Consumer{batch(time.Hour)}
	for at := now(); at.Before(now().Add(3 * time.Hour)); at = at.Add(7 * time.Minute) {
		f.GPUs = float64(30 + at.Minute()/20)
		f.Members[1] = extended(office("code"), at)
		kept, fresh := old.Plan(at, f), plan(t, at, f)
		if fmt.Sprint(kept) != fmt.Sprint(fresh) {
			t.Fatalf("at %s: %+v, a new planner has %+v", at, kept, fresh)
		}
	}
}

// No input has a plan that gives more than there is, or a number that is not one.
func FuzzPlan(f *testing.F) {
	f.Add(64.0, 0.0, 1.0, 1.0, 1, 10, 3, 5.0, int64(20*time.Minute), 1.0, 1.0, uint16(4100))
	f.Add(math.Inf(1), math.NaN(), -1.0, 0.0, -5, 0, 1<<40, math.Inf(1), int64(-1), math.NaN(), 0.0, uint16(3))
	f.Add(1e300, -1e300, 1e300, 1e-300, 1<<40, 1<<41, 0, 1e308, int64(math.MaxInt64), 1e-300, 1e300, uint16(600))
	f.Fuzz(func(t *testing.T, gpus, other, size, target float64, least, most, present int, served float64,
		run int64, batchGPUs, share float64, length uint16,
	) {
		m := office("chat")
		m.GPUs, m.Target, m.MinReplicas, m.MaxReplicas, m.Present = size, target, least, most, present
		m.Served, m.ServedPeaks.Values = served, m.ServedPeaks.Values[:min(int(length), len(m.ServedPeaks.Values))]
		if n := len(m.ServedPeaks.Values); n > 10 {
			m.ServedPeaks.Values = slices.Clone(m.ServedPeaks.Values)
			m.ServedPeaks.Values[n/2], m.ServedPeaks.Values[n/3] = served, math.NaN()
		}
		all := fleet.Fleet{GPUs: gpus, Other: other, Members: []fleet.Member{m, office("code")}}
		all.Batch = []fleet.Consumer{
			{Name: "a", GPUs: batchGPUs, Share: share, Run: time.Duration(run)},
			{Name: "b", GPUs: 1, Share: 1, Run: time.Hour},
		}
		p := plan(t, now(), all)
		used := 0.0
		for _, b := range p.Batch {
			if math.IsNaN(b.Need) || math.IsNaN(b.Expected) || math.IsNaN(b.Margin) || b.Replicas < 0 {
				t.Fatalf("%+v", b)
			}
			if b.Replicas > 0 && b.Need < p.Members-1e-3 {
				t.Fatalf("%+v, but the members hold %v", b, p.Members)
			}
			used += float64(b.Replicas) * b.GPUs
		}
		if math.IsNaN(p.Members) || used > math.Max(0, p.GPUs-p.Other-p.Members)+1e-3*math.Max(1, used) {
			t.Fatalf("%+v uses %v GPUs", p, used)
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	f := fleet.Fleet{GPUs: 1000, Batch: []fleet.Consumer{batch(20 * time.Minute), batch(time.Hour)}}
	for i := range 50 {
		f.Members = append(f.Members, office(fmt.Sprint("member-", i)))
	}
	b.Run("step", func(b *testing.B) {
		var p fleet.Planner
		for b.Loop() {
			p.Plan(now(), f)
		}
	})
	// Steps of 30 seconds, with a new cell every 5 minutes and new margins every hour.
	b.Run("average", func(b *testing.B) {
		var p fleet.Planner
		for i := 0; b.Loop(); i++ {
			p.Plan(now().Add(time.Duration(i%120)*30*time.Second), f)
		}
	})
	b.Run("new cell", func(b *testing.B) {
		for b.Loop() {
			var p fleet.Planner
			p.Plan(now(), f)
		}
	})
}

func TestMessage(t *testing.T) {
	m := office("chat")
	stale := office("code")
	stale.Unreliable, stale.MaxReplicas = "is stale: its newest sample is 20m old", 10
	for want, f := range map[string]fleet.Fleet{
		"4 of 32 GPUs are kept for the members for the next 20m, which leaves 28 for batch work. The members hold 4 now and are expected to need 4; " +
			"past days require a margin of 0%.": {GPUs: 32, Members: []fleet.Member{m}},
		"14 of 30 GPUs are kept for the members for the next 20m, which leaves 16 for batch work; other pods hold 2 GPUs. The members hold 8 now " +
			"and are expected to need 14; past days require a margin of 0%. All replicas that a member may have are kept where Forewarm does not know " +
			"its need: code is stale: its newest sample is 20m old.": {GPUs: 32, Other: 2, Members: []fleet.Member{m, stale}},
		"all 3 GPUs are kept for the members for the next 20m. The members hold 4 now and are expected to need 4; past days require a margin of 0%.": {GPUs: 3, Members: []fleet.Member{m}},
		"all 0 GPUs are kept for the members for the next 20m; other pods hold 8 GPUs. The members hold 4 now and are expected to need 4; past " +
			"days require a margin of 0%.": {Other: 8, Members: []fleet.Member{m}}, // A device plugin that failed: the pods still run.
	} {
		f.Batch = []fleet.Consumer{batch(20 * time.Minute)}
		p := plan(t, now(), f)
		if got := p.Message(&p.Batch[0]); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{m}, Batch: []fleet.Consumer{
		batch(20 * time.Minute), {Name: "train", GPUs: 16, Share: 1, Run: 20 * time.Minute},
	}}
	p := plan(t, now(), f)
	for i, want := range []string{
		"leaves 28 for batch work; the share of embeddings is 14. The",
		"leaves 28 for batch work; the share of train is 14, too few for a replica of 16 GPUs. The",
	} {
		if got := p.Message(&p.Batch[i]); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
