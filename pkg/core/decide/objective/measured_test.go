package objective_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// world is what is measured where replicas sustain so much, and an HPA with a target of 10 scales them by what it reads: the late
// share of each clock hour, by its end.
func world(t *testing.T, capacity float64, read, demand []float64, start time.Time) map[time.Time]float64 {
	t.Helper()
	spec := autoscaler(1000).Spec
	spec.Capacity, spec.PassDeadBand = capacity, false
	if &read[0] == &demand[0] {
		spec.HPA.Behavior = nil
	}
	actual, err := sim.NewSimulation(spec, 1, start, step)
	if err != nil {
		t.Fatal(err)
	}
	out := map[time.Time]float64{}
	for i := 1; i < len(demand); i++ {
		actual.Play(read[i-1:i], demand[i])
		if end := start.Add(time.Duration(i) * step); end.Equal(end.Truncate(time.Hour)) {
			out[end] = actual.Score().Late[0] / actual.Score().Arrived
			actual.Reset()
		}
	}
	return out
}

// A difference is one that is threefold for a day and a half, and stays until it is less than twofold. It names the capacity that
// explains it.
func TestMeasuredLatenessDiffers(t *testing.T) {
	demand := days(7, 12)
	c := config(t, 0.01)
	c.Start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	p := newPlayer(t, c)
	served := play(p, demand)
	end := c.Start.Add(time.Duration(len(demand)) * step)
	always := func(times float64) func(time.Duration) float64 {
		return func(time.Duration) float64 { return times }
	}
	until := func(before float64, ago time.Duration, after float64) func(time.Duration) float64 {
		return func(age time.Duration) float64 {
			if age > ago {
				return before
			}
			return after
		}
	}
	const hour = time.Hour
	for _, tt := range []struct {
		name     string
		capacity float64
		// times is what is measured over what the world of that capacity shows, by its age.
		times func(age time.Duration) float64
		// more: more was measured than simulated; less: less was. Neither: they agree.
		more, less bool
		served     bool
		explains   float64
	}{
		{name: "as assumed", capacity: 10, times: always(1)},
		{name: "nothing is known", capacity: 10, times: always(math.NaN())},
		{name: "less than threefold", capacity: 10, times: always(2.9)},
		{name: "more than threefold", capacity: 10, times: always(3.1), more: true},
		{name: "a third", capacity: 10, times: always(0.3), less: true},
		{name: "for less than half a day", capacity: 10, times: func(age time.Duration) float64 {
			if age > 36*hour && age < 47*hour {
				return 99
			}
			return 1
		}},
		{name: "since yesterday", capacity: 10, times: until(1, 24*hour, 9)},
		{name: "for two days", capacity: 10, times: until(1, 48*hour, 9), more: true},
		{name: "one that has become smaller", capacity: 10, times: until(4, 48*hour, 2.3), more: true},
		{name: "one that was", capacity: 10, times: until(4, 30*hour, 1)},
		{name: "a smaller one alone", capacity: 10, times: always(2.3)},
		{name: "known for three hours of each day", capacity: 10, times: func(age time.Duration) float64 {
			if age%(24*hour) < 3*hour {
				return 9
			}
			return math.NaN()
		}},
		{name: "replicas that sustain 8: they fall behind, which no line shows", capacity: 8, times: always(1), more: true},
		{name: "replicas that sustain 13", capacity: 13, times: always(1), less: true, explains: 13},
		{name: "served, as assumed", served: true, capacity: 10, times: always(1)},
		{name: "served, more than fourfold", served: true, capacity: 10, times: always(4.5), more: true, explains: 8},
	} {
		read := demand
		if tt.served {
			read = served
		}
		shares := world(t, tt.capacity, read, demand, c.Start)
		d := p.Difference(func(after, to time.Time) (float64, time.Duration) {
			share, known := shares[to]
			if !known || to.Sub(after) != hour {
				t.Fatalf("from %s to %s is no hour", after, to)
			}
			if times := tt.times(end.Sub(to)); times >= 0 {
				return share * times, hour
			}
			return math.NaN(), 0
		}, !tt.served)
		if (d != nil) != (tt.more || tt.less) || d != nil && (d.Measured > d.Simulated) != tt.more {
			t.Errorf("%s: %+v", tt.name, d)
			continue
		}
		if tt.explains > 0 && math.Abs(d.Explains/tt.explains-1) > 0.15 {
			t.Errorf("%s: %+v, want %v to explain it", tt.name, d, tt.explains)
		}
		if d != nil {
			t.Logf("%s: %s", tt.name, d.Message(30*time.Second))
		}
	}
}
