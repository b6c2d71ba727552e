package forecaster_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// held is a demand of which no more than the capacity is seen.
func held(v, capacity float64) demand.Reading {
	return demand.Reading{Demand: math.Min(v, capacity), Saturated: v >= capacity}
}

// hidden is a history of days that are all seen, and then of days at whose peaks the service is saturated. The same twice:
// as it is screened, and as who screens nothing has it.
func hidden(load func(int) float64, seen, saturated int, capacity float64) (screened, taken forecaster.History) {
	taken = history((seen+saturated)*288, load)
	limits := map[time.Time]bool{}
	for i := seen * 288; i < len(taken.Values); i++ {
		r := held(taken.Values[i], capacity)
		taken.Values[i], limits[taken.TimeAt(i)] = r.Demand, r.Saturated
	}
	screened = taken
	screened.Saturated = func(at time.Time) bool { return limits[at] }
	return screened, taken
}

// After days whose peaks were hidden, the next peak is still expected to be what it was when it could be seen; who takes
// the plateau for the demand has learnt the plateau.
func TestAPlateauIsNotLearnt(t *testing.T) {
	const capacity = 300 // The peak is 400.
	objective := config()
	objective.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	objective.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	for name, c := range map[string]forecaster.Config{"a quantile": config(), "an objective": objective} {
		t.Run(name, func(t *testing.T) {
			c.Models = []string{windowpeak.HoltWinters} // Quick to fit.
			load := saw(rand.New(rand.NewPCG(3, 2)))
			screened, taken := hidden(load, 5, 2, capacity)
			repaired, naive := forecaster.New(c, screened), forecaster.New(c, taken)
			most := func(f *forecaster.Forecaster, sample demand.Reading) float64 {
				f.Step(sample)
				return describe(f).Decision.Value
			}
			var withRepair, without float64
			for i := 7 * 288; i < 7*288+9*12; i++ { // To nine o'clock, when the peak is.
				sample := held(load(i), capacity)
				withRepair = math.Max(withRepair, most(repaired, sample))
				without = math.Max(without, most(naive, plain(sample.Demand)))
			}
			t.Logf("of a peak of 400 that is seen up to %d: served at most %.1f with repair, %.1f without", capacity,
				withRepair, without)
			if withRepair < 1.2*capacity || withRepair < without {
				t.Errorf("served at most %.1f with repair, %.1f without", withRepair, without)
			}
		})
	}
}

// What is masked is not seen at all: neither by what is observed, nor by the scores.
func TestAMaskedSampleIsAGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := forecaster.New(config(), history(7*288, saw(rng)))
	before := describe(f)
	for range 3 {
		f.Step(plain(gap))
	}
	after := describe(f)
	if after.Observed != before.Observed || after.Decision.Value < after.Observed {
		t.Errorf("in an outage %v is observed and %v served, after %v", after.Observed, after.Decision.Value,
			before.Observed)
	}
	if after.Coverage != before.Coverage {
		t.Errorf("coverage %v, %v before", after.Coverage, before.Coverage)
	}
}

// A service that is always at its limit is served no less than what is seen, and no more than a little above.
func TestNothingButBounds(t *testing.T) {
	objective := config()
	objective.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	objective.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	for name, c := range map[string]forecaster.Config{"a quantile": config(), "an objective": objective} {
		f := forecaster.New(c, history(0, nil))
		rng := rand.New(rand.NewPCG(5, 4))
		for i := range 4 * 288 {
			sample := demand.Reading{Demand: 300 + rng.Float64(), Saturated: true}
			f.Step(sample)
			value := describe(f).Decision.Value
			if !math.IsNaN(value) && (value < sample.Demand || value > 600) {
				t.Fatalf("%s, step %d: %v served on %v", name, i, value, sample.Demand)
			}
		}
		if e := describe(f); e.Observed < 300 || e.Coverage > 0 {
			t.Errorf("%s: observed %v, coverage %v of windows of which nothing is known", name, e.Observed, e.Coverage)
		}
	}
}
