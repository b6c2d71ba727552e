package demand_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// variedReadings is a demand with everything in it: a daily cycle, bursts, gaps, outages, plateaus at 180, a saturation
// signal.
func variedReadings(seed uint64, n int) []demand.Reading {
	rng := rand.New(rand.NewPCG(seed, 9))
	out := make([]demand.Reading, n)
	for i := range out {
		v := 120 + 80*math.Sin(2*math.Pi*float64(i)/day) + 5*rng.NormFloat64()
		if i%1500 < 4 {
			v *= 40
		}
		if i%3700 < 10 {
			v = 0
		}
		if i%5000 < 60 {
			v = 180 + rng.Float64()
		}
		if rng.IntN(200) == 0 {
			v = math.NaN()
		}
		out[i] = demand.Reading{Demand: v, Saturated: i%900 < 20}
	}
	return out
}

func same(a, b demand.Sample) bool {
	return a.Cause == b.Cause && math.Float64bits(a.Value) == math.Float64bits(b.Value)
}

// Later samples do not change the class of a sample.
func TestLaterSamplesChangeNothing(t *testing.T) {
	readings := variedReadings(1, 5*day)
	whole := classified(classifyStep, 180, readings)
	for _, at := range []int{1, 1000, 2*day + 1, 7401, 3*day + 17} {
		other := slices.Concat(readings[:at], variedReadings(2, 500))
		for i, s := range classified(classifyStep, 180, other)[:at] {
			if !same(s, whole[i]) {
				t.Fatalf("with another future from step %d on, step %d is %+v, not %+v", at, i, s, whole[i])
			}
		}
	}
}

// The unit of the demand does not matter: twice the demand with twice the capacity is classified the same. Powers of
// two are exact.
func TestAnyUnitWillDo(t *testing.T) {
	readings := variedReadings(3, 6*day)
	want := classified(classifyStep, 180, readings)
	causes := map[demand.Cause]int{}
	for _, s := range want {
		causes[s.Cause]++
	}
	if len(causes) != 5 {
		t.Fatalf("the demand has only the causes %v", causes)
	}
	for _, unit := range []float64{1. / 1024, 2, 1 << 30} {
		scaled := slices.Clone(readings)
		for i := range scaled {
			scaled[i].Demand *= unit
		}
		for i, s := range classified(classifyStep, 180*unit, scaled) {
			s.Value /= unit
			if !same(s, want[i]) {
				t.Fatalf("times %v: step %d is %+v, not %+v", unit, i, s, want[i])
			}
		}
	}
}

// No value is changed, and a demand at least as high as the last known one is never masked.
func TestRisesAreNeverMasked(t *testing.T) {
	readings := variedReadings(4, 6*day)
	last := 0.0
	for i, s := range classified(classifyStep, 180, readings) {
		v := readings[i].Demand
		if math.IsNaN(v) {
			continue
		}
		if s.Cause.Kind() == "Masked" && v >= last {
			t.Fatalf("step %d: %v after %v is masked", i, v, last)
		}
		if s.Cause.Kind() != "Masked" {
			if s.Value != v {
				t.Fatalf("step %d: %v has become %v", i, v, s.Value)
			}
			last = v
		}
	}
}

// Where drops are rare, classifying the result again masks nothing more, even after a long outage.
func TestClassifyingTwiceChangesNothing(t *testing.T) {
	load := level(9*day, 100)
	for _, outage := range []struct{ from, steps int }{{3 * day, 6}, {5 * day, 15}, {7 * day, 200}} {
		for i := range outage.steps {
			load[outage.from+i] = 0
		}
	}
	once := classified(classifyStep, 0, readingsOf(load))
	again := make([]demand.Reading, len(once))
	for i, s := range once {
		again[i].Demand = s.Value
	}
	masked := 0
	for i, s := range classified(classifyStep, 0, again) {
		if s.Cause.Kind() != once[i].Cause.Kind() {
			t.Fatalf("step %d: %s, then %s", i, once[i].Cause.Kind(), s.Cause.Kind())
		}
		if s.Cause.Kind() == "Masked" {
			masked++
		}
	}
	if masked != 6+15+200 {
		t.Errorf("%d samples masked, want 221", masked)
	}
}

// For any input a masked sample has no value; known and censored values are finite, not negative and as read; and a
// demand that was never steady is never masked as an outage.
func FuzzClassifier(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1}, 0.0)
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(1))), math.Inf(1))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e308)), 1e308)
	f.Fuzz(func(t *testing.T, data []byte, capacity float64) {
		classifier := demand.NewClassifier(5*time.Minute, capacity)
		for range 300 { // More than a day, so that outages can be detected.
			for rest := data; len(rest) >= 9; rest = rest[9:] {
				r := demand.Reading{
					Demand:    math.Float64frombits(binary.LittleEndian.Uint64(rest)),
					Saturated: rest[8]&1 != 0, ScaledToZero: rest[8]&2 != 0,
				}
				check(t, r, classifier.Step(r))
			}
		}
	})
}

func check(t *testing.T, r demand.Reading, s demand.Sample) {
	t.Helper()
	isDemand := r.Demand >= 0 && !math.IsInf(r.Demand, 1)
	switch {
	case s.Cause.Kind() == "Masked" && !math.IsNaN(s.Value):
		t.Fatalf("%+v is masked and has the value %v", r, s.Value)
	case s.Cause.Kind() != "Masked" && s.Value != r.Demand:
		t.Fatalf("%+v has become %+v", r, s)
	case isDemand == (s.Cause == demand.Missing):
		t.Fatalf("%+v is %+v", r, s)
	case isDemand && r.Saturated && s.Cause.Kind() == "Known":
		t.Fatalf("%+v is known", r)
	case r.ScaledToZero && s.Cause == demand.Outage:
		t.Fatalf("%+v is an outage", r)
	}
}
