package capacity_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/pkg/offline/capacity"
)

// The estimate is held against simulated services whose capacity is known: how often there is one, its error in the mean and
// by the root of the mean square, how often its 90 % interval holds the truth, how wide that is, and how far from the truth
// the target that is advised lies. A coverage of 0 is none that is asked for.
//
//   - Uneven replicas come to their limit one after the other. What the service sustains is less for each of them than the
//     even share of the capacity, and the estimate is low by about a deviation of their shares.
//   - Where the capacity wanders, what is served is low both when little is asked for and when little can be done: of that
//     signal there mostly is no estimate, and the others are right.
//   - Noise that the queue knows nothing of moves the threshold up, for there are many more calm moments than others.
func TestSimulatedServices(t *testing.T) {
	usual := service{days: 14, target: 0.85, noise: 0.02, bursts: 2}
	with := func(change func(*service)) service {
		s := usual
		change(&s)
		return s
	}
	scenarios := []struct {
		name string
		service
		// low and high bound the bias, told and held are the least shares.
		low, high, told, held float64
	}{
		{"usual", usual, -0.04, 0.05, 1, 0.7},
		{"noisy", with(func(s *service) { s.noise = 0.05 }), -0.04, 0.12, 1, 0},
		{"rare", with(func(s *service) { s.bursts = 0.3 }), -0.04, 0.08, 0.5, 0.7},
		{"often", with(func(s *service) { s.target = 1.05 }), -0.04, 0.05, 1, 0.7},
		{"uneven", with(func(s *service) { s.uneven = 0.1 }), -0.2, -0.05, 0.7, 0},
		{"wanders", with(func(s *service) { s.wander = 0.15 }), -0.1, 0.12, 0.1, 0},
		{"blips", with(func(s *service) { s.blips = 0.05 }), -0.04, 0.05, 1, 0.7},
		{"yes or no", with(func(s *service) { s.boolean = true }), -0.04, 0.05, 1, 0.7},
		{"recorded", with(func(s *service) { s.recorded = true }), -0.04, 0.08, 1, 0.7},
		{"3 days", with(func(s *service) { s.days = 3 }), -0.04, 0.1, 0.8, 0.7},
	}
	t.Log("service    signal        told   bias   rmse   held  width target")
	for _, sc := range scenarios {
		for _, signal := range []string{inFlight, arrivals, throughput} {
			s := sc.service
			s.signal = signal
			t.Run(sc.name+"/"+signal, func(t *testing.T) {
				r := repeat(t, s)
				t.Logf("%-10s %-10s %5.0f%% %+5.1f%% %5.1f%% %5.0f%% %5.1f%% %+5.1f%%", sc.name, signal,
					100*r.told, 100*r.bias, 100*r.error, 100*r.held, 100*r.width, 100*r.target)
				if !(r.told >= sc.told) || !(r.bias >= sc.low) || !(r.bias <= sc.high) || !(r.held >= sc.held) ||
					!(r.target <= 0.03) || !(r.target >= sc.low-0.1) {
					t.Errorf("%+v, want %+v", r, sc)
				}
			})
		}
	}
}

// record is how estimates did, in shares of the truth.
type record struct{ told, bias, error, held, width, target float64 }

func repeat(t *testing.T, s service) record {
	t.Helper()
	const seeds = 4
	var r record
	for seed := range uint64(seeds) {
		e, err := capacity.FromHistory(s.history(t, seed))
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(e.Value) {
			continue
		}
		off := e.Value/truth(s.signal) - 1
		r.told++
		r.bias += off
		r.error += off * off
		r.target += e.Target()/truth(s.signal) - 1
		r.width += (e.High - e.Low) / truth(s.signal)
		if e.Low <= truth(s.signal) && truth(s.signal) <= e.High {
			r.held++
		}
	}
	return record{
		told: r.told / seeds, bias: r.bias / r.told, error: math.Sqrt(r.error / r.told), held: r.held / r.told,
		width: r.width / r.told, target: r.target / r.told,
	}
}
