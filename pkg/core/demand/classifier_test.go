package demand_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

const (
	classifyStep = 30 * time.Second
	// day is in steps.
	day = 2880
)

var gap = math.NaN()

// classified is what a new Classifier returns for readings.
func classified(step time.Duration, capacity float64, readings []demand.Reading) []demand.Sample {
	classifier := demand.NewClassifier(step, capacity)
	out := make([]demand.Sample, len(readings))
	for i, r := range readings {
		out[i] = classifier.Step(r)
	}
	return out
}

// causes are those of a demand without a saturation signal.
func causes(step time.Duration, capacity float64, load ...float64) []demand.Cause {
	out := make([]demand.Cause, len(load))
	for i, s := range classified(step, capacity, readingsOf(load)) {
		out[i] = s.Cause
	}
	return out
}

func readingsOf(load []float64) []demand.Reading {
	out := make([]demand.Reading, len(load))
	for i, v := range load {
		out[i].Demand = v
	}
	return out
}

// level is n steps at a value, with a ripple of 3 %.
func level(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v * (1 + 0.03*math.Sin(float64(i)))
	}
	return out
}

func flat(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

func count(all []demand.Cause, of demand.Cause) int {
	n := 0
	for _, c := range all {
		if c == of {
			n++
		}
	}
	return n
}

func TestWhatCannotBeDemandIsMissing(t *testing.T) {
	got := classified(classifyStep, 0,
		readingsOf([]float64{gap, -1, math.Inf(1), math.Inf(-1), 5, gap, 0}))
	m := demand.Sample{Value: gap, Cause: demand.Missing}
	want := []demand.Sample{m, m, m, m, {Value: 5}, m, {Value: 0}}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheSaturationSignalCensors(t *testing.T) {
	got := classified(classifyStep, 0, []demand.Reading{
		{Demand: 90}, {Demand: 100, Saturated: true}, {Demand: gap, Saturated: true}, {Demand: 95},
	})
	want := []demand.Sample{
		{Value: 90}, {Value: 100, Cause: demand.Saturated}, {Value: gap, Cause: demand.Missing}, {Value: 95},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAPlateauAtCapacityIsCensored(t *testing.T) {
	const known, bound = demand.Cause(0), demand.AtCapacity
	tests := map[string]struct {
		capacity float64
		demand   []float64
		want     []demand.Cause
	}{
		"from the fourth sample on": {
			1000,
			[]float64{990, 1010, 985, 1000, 1020, 1200},
			[]demand.Cause{known, known, known, bound, bound, known},
		},
		"what passes through is not held": {
			1000,
			[]float64{900, 960, 1000, 1040, 1060, 1040, 1000, 960, 900},
			[]demand.Cause{known, known, known, known, known, known, known, known, known},
		},
		"it lasts through a missed scrape": {
			1000,
			[]float64{1000, 1000, gap, 1000, 1000},
			[]demand.Cause{known, known, demand.Missing, known, bound},
		},
		"above the configured capacity nothing is censored": {
			1000, flat(5, 1300), []demand.Cause{known, known, known, known, known},
		},
		"no capacity, no plateau": {0, flat(5, 0), []demand.Cause{known, known, known, known, known}},
		"infinite capacity, no plateau": {
			math.Inf(1),
			flat(5, 1e9),
			[]demand.Cause{known, known, known, known, known},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := causes(classifyStep, tt.capacity, tt.demand...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnOutageIsMaskedForAWhile(t *testing.T) {
	history := level(3*day, 100)
	tests := map[string]struct {
		then []float64
		// masked of the samples after the history.
		masked int
	}{
		"four minutes":                 {slices.Concat(flat(8, 0), level(100, 100)), 8},
		"all of an hour":               {slices.Concat(flat(120, 0), level(100, 100)), 120},
		"not quite six hours of a day": {flat(day, 0), 697},
		"the ramp of a rate's range goes before": {
			slices.Concat([]float64{75, 50, 25}, flat(8, 0), level(100, 100)),
			8,
		},
		"the health checks that are left": {slices.Concat(flat(8, 1), level(100, 100)), 8},
		"a gap in it": {
			slices.Concat(flat(4, 0), []float64{gap}, flat(3, 0), level(100, 100)),
			7,
		},
		"a gap before it":                 {slices.Concat(flat(20, gap), flat(8, 0)), 8},
		"a gap of half an hour before it": {slices.Concat(flat(60, gap), flat(8, 0)), 0},
		"half the load":                   {level(100, 50), 0},
		"a tenth of it":                   {level(100, 10), 0},
		"a load that fades":               {fading(100), 0},
		"one after another":               {slices.Concat(flat(60, 0), level(1000, 100), flat(60, 0)), 120},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := causes(classifyStep, 0, slices.Concat(history, tt.then)...)
			if n := count(got, demand.Outage); n != tt.masked {
				t.Errorf("%d of %d samples masked, want %d", n, len(tt.then), tt.masked)
			}
		})
	}
}

// fading falls by a tenth per step, to zero.
func fading(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 * math.Pow(0.9, float64(i))
	}
	return out
}

func TestIntermittentDemandIsNotMasked(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	tests := map[string]struct {
		demand func(i int) float64
		// most samples masked in two weeks, of 40,320.
		most int
	}{
		"nine to five": {
			func(i int) float64 { return onOff(i%day > day*9/24 && i%day < day*17/24) },
			0,
		},
		"an hourly batch of twenty minutes": {func(i int) float64 { return onOff(i%120 < 40) }, 0},
		// The first pauses are masked until they are a habit.
		"a pause of five minutes every hour": {func(i int) float64 { return onOff(i%120 >= 10) }, 0},
		// The end is masked for less than six hours, once.
		"always on for a week, then off": {func(i int) float64 { return onOff(i < 7*day) }, 697},
		"every weekend":                  {func(i int) float64 { return onOff(i/day%7 < 5) }, 697},
		"five requests a minute":         {func(int) float64 { return float64(poisson(rng, 5)) }, 60},
		"bursts of two hours on little":  {func(i int) float64 { return 2 + 1000*onOff(i%day < 240) }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			load := make([]float64, 14*day)
			for i := range load {
				load[i] = tt.demand(i)
			}
			got := causes(classifyStep, 0, load...)
			if n := count(got, demand.Outage); n > tt.most {
				t.Errorf("%d samples masked, want %d at most", n, tt.most)
			}
		})
	}
}

func onOff(on bool) float64 {
	if on {
		return 100
	}
	return 0
}

func poisson(rng *rand.Rand, mean float64) int {
	n := 0
	for p := rng.ExpFloat64(); p < mean; p += rng.ExpFloat64() {
		n++
	}
	return n
}

// New pauses are masked three times in a day, and are a habit from then on.
func TestFrequentDropsAreNoOutages(t *testing.T) {
	load := level(7*day, 100)
	for i := 2 * day; i < len(load); i++ {
		load[i] = onOff(i%120 >= 10)
	}
	got := causes(classifyStep, 0, load...)
	if n := count(got, demand.Outage); n < 20 || n > 60 {
		t.Errorf("%d samples masked, want those of the first pauses", n)
	}
}

func TestZeroReplicasAreNoOutage(t *testing.T) {
	readings := readingsOf(slices.Concat(level(2*day, 100), flat(8, 0)))
	for i := 2 * day; i < len(readings); i++ {
		readings[i].ScaledToZero = true
	}
	for i, s := range classified(classifyStep, 0, readings) {
		if s.Cause.Kind() != "Known" {
			t.Fatalf("step %d: %s", i, s.Cause)
		}
	}
}

// What of the demand before an outage counts depends on time, not on the number of steps.
func TestAnOutageFades(t *testing.T) {
	for _, every := range []time.Duration{15 * time.Second, classifyStep, 5 * time.Minute} {
		perHour := int(time.Hour / every)
		samples := classified(every, 0,
			readingsOf(slices.Concat(level(49*perHour, 100), flat(6*perHour, 0))))
		began := 49 * perHour
		for after, want := range map[time.Duration]float64{
			5 * time.Minute: 0, 70 * time.Minute: 0.5, 130 * time.Minute: 0.75, 250 * time.Minute: 0.9375,
		} {
			s := samples[began+int(after/every)-1]
			if s.Cause != demand.Outage || math.Abs(s.Faded-want) > 1e-9 {
				t.Errorf("step %s, after %s: %+v, want %v faded", every, after, s, want)
			}
		}
		if last := samples[len(samples)-1]; last.Cause.Kind() != "Known" || last.Faded != 0 {
			t.Errorf("step %s, after six hours: %+v", every, last)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	classifier := demand.NewClassifier(classifyStep, 100)
	i := 0
	if n := testing.AllocsPerRun(5000, func() {
		classifier.Step(demand.Reading{Demand: float64(i % 97), Saturated: i%13 == 0})
		i++
	}); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}
