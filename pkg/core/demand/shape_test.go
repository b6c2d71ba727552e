package demand_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

func TestShapes(t *testing.T) {
	counter := make([]float64, 2*day)
	for i := 1; i < len(counter); i++ {
		counter[i] = counter[i-1] + math.Floor(3+2*math.Sin(float64(i)))
	}
	restarted := slices.Clone(counter)
	for i := range restarted[day+500:] {
		restarted[day+500+i] -= 0.3 * counter[day+500]
	}
	growing := level(2*day, 100)
	for i := range growing {
		growing[i] *= 1 + float64(i)/day
	}
	stairs := make([]float64, 2*day) // Replicas, or a demand of few requests: it rises, and does not fall for a day.
	for i := range stairs {
		stairs[i] = math.Floor(float64(i) / 400)
	}
	sawtooth := make([]float64, 2*day) // A queue that fills and is emptied every half hour.
	for i := range sawtooth {
		sawtooth[i] = float64(i % 60)
	}
	for name, c := range map[string]struct {
		samples []float64
		want    demand.Shape
	}{
		"a counter":                             {counter, demand.Counter},
		"a counter of which a process restarts": {restarted, demand.Counter},
		"a young counter":                       {counter[:day-1], ""},
		"a demand":                              {level(2*day, 100), ""},
		"a load that grows for five hours and ends": {slices.Concat(flat(day, 0), rising(5*day/24), flat(day/2, 0)), ""},
		"a demand that doubles in a day":            {growing, ""},
		"a demand in stairs":                        {stairs, ""},
		"a sawtooth":                                {sawtooth, ""},
		"a constant":                                {flat(2*day, 40), ""},
		"frozen for an hour":                        {slices.Concat(level(2*day, 100), flat(120, 97)), demand.Frozen},
		"frozen for half an hour":                   {slices.Concat(level(2*day, 100), flat(60, 97)), ""},
		"frozen in between":                         {slices.Concat(level(day, 100), flat(240, 97), level(day/2, 100)), ""},
		"none for an hour":                          {slices.Concat(level(2*day, 100), flat(120, 0)), ""},
		"no sample for an hour":                     {slices.Concat(level(2*day, 100), flat(120, gap)), ""},
		"hardly a sample":                           {flat(2*day, gap), ""},
		"a level that is always held for an hour":   {slices.Concat(flat(day, 3), flat(day/2, 4), flat(day/2, 3)), ""},
	} {
		if got := demand.ShapeOf(c.samples, classifyStep); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := demand.ShapeOf(counter, time.Hour); got != "" {
		t.Errorf("with a step of an hour: %q", got)
	}
}

// rising is a counter of so many steps.
func rising(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// counters are four days of sums of counters of several processes, each of which starts again every so many steps; 0 for never.
func counters(perStep func(step int) float64, every ...int) []float64 {
	out := make([]float64, 4*day)
	for process, steps := range every {
		counted := 0.0
		for i := range out {
			if steps > 0 && (i+process*steps/len(every))%steps == 0 {
				counted = 0
			}
			counted += perStep(i)
			out[i] += counted
		}
	}
	return out
}

// A counter is told at all times from its second day on, whenever its processes start again.
func TestCountersAreToldAtAllTimes(t *testing.T) {
	const hour = day / 24
	noisy := func(i int) float64 { return math.Floor(3 + 2*math.Sin(float64(i)*1.7)) }
	constant := func(int) float64 { return 40 }
	rare := func(i int) float64 { return float64(1 - min(1, i%12)) }
	byDay := func(i int) float64 {
		return math.Floor(20 * math.Max(0, math.Sin(2*math.Pi*float64(i)/day)) * math.Abs(math.Sin(float64(i))))
	}
	pods := counters(noisy, 0, 0) // With one to six more in the daytime, which go away one by one.
	for pod := range 6 {
		counted := 0.0
		for i := range pods {
			if in := i % day; in > (6+pod)*hour && in < (20-pod)*hour {
				counted += noisy(i)
				pods[i] += counted
			} else {
				counted = 0
			}
		}
	}
	once := counters(noisy, 0)
	for i := range once[2*day:] {
		once[2*day+i] -= once[2*day-1]
	}
	for name, samples := range map[string][]float64{
		"one reset":                   once,
		"without noise":               counters(constant, day+7*hour),
		"a reset a day":               counters(noisy, day),
		"three resets a day":          counters(noisy, 8*hour),
		"a restart every three hours": counters(noisy, 3*hour),
		"of few requests":             counters(rare, 30*hour),
		"of the daytime alone":        counters(byDay, day),
		"of several processes":        counters(noisy, 0, 9*hour, 11*hour, 30*hour),
		"of many that restart":        counters(noisy, 0, 5*hour, 6*hour, 7*hour, 8*hour, 9*hour),
		"of pods that come and go":    pods,
	} {
		for end := day; end <= len(samples); end += 10 {
			if got := demand.ShapeOf(samples[:end], classifyStep); got != demand.Counter {
				t.Errorf("%s, %.1f hours: %q", name, float64(end)/hour, got)
				break
			}
		}
	}
}

// No recorded demand is refused: what looks like a counter is one.
func TestRecordedDemandHasNoShape(t *testing.T) {
	for name, s := range traces(t) {
		perDay := int(demand.ShapeTime / s.Step)
		for end := perDay; end <= len(s.Values); end += max(1, perDay/48) {
			if shape := demand.ShapeOf(s.Values[:end], s.Step); shape == demand.Counter {
				t.Errorf("%s: %s at %s", name, shape, s.TimeAt(end-1))
				break
			}
		}
	}
}
