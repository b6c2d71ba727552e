package objective_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// calm is the smoothest demand: about so much, in slow waves of a tenth.
func calm(days int, level float64) []float64 {
	out := make([]float64, days*day)
	for i := range out {
		out[i] = level * (1 + 0.1*math.Sin(2*math.Pi*float64(i)/day) + 0.02*math.Sin(2*math.Pi*float64(i)/97))
	}
	return out
}

// Whatever a workload or its autoscaler is like, or turns into: from the third day on it is as late as asked, or
// little more, and not expensive. Of demand that jumps without a shape, with an autoscaler that is slower than it says, it takes longer.
func TestRightWithinTwoDays(t *testing.T) {
	const late, judged = 0.01, 4 // days
	capacity := func(each float64) func(*objective.Config) {
		return func(c *objective.Config) {
			c.Autoscalers[0].Spec.Capacity = each
			c.Autoscalers[0].Spec.HPA.Metrics[0].Target = int64(1000 * each)
		}
	}
	for _, tt := range []struct {
		name          string
		change        func(*objective.Config)
		demand        []float64
		most, maxCost float64 // times what was asked, times the demand
	}{
		// Within its tolerance an HPA does nothing: a value a little above what its replicas sustain is ignored.
		{"smooth, in the dead band", nil, calm(2+judged, 120), 1.3, 1.2},
		{"calm, then wild", nil, slices.Concat(calm(14, 400), jumpy(2+judged, 3)), 3, 2.5},
		{"wild, then calm", nil, slices.Concat(jumpy(14, 3), calm(2+judged, 400)), 1.3, 1.3},
		{"a target five times too high", capacity(50), jumpy(2+judged, 4), 2.2, 2.5},
		{"a target five times too low", capacity(2), jumpy(2+judged, 4), 2.2, 2.5},
		{"starts that take twice as long as said", func(c *objective.Config) {
			c.Autoscalers[0].Spec.PodLead = sim.Constant(2 * lead)
		}, jumpy(2+judged, 5), 3.5, 3},
		{"a tolerance of its own", func(c *objective.Config) {
			tolerance := 0.3
			c.Autoscalers[0].Spec.HPA.Behavior.Up.Tolerance = &tolerance
		}, calm(2+judged, 120), 1.3, 1.5},
		{"a stabilization of its own", func(c *objective.Config) {
			c.Autoscalers[0].Spec.HPA.Behavior.Up.Stabilization = 5 * time.Minute
		}, jumpy(2+judged, 6), 5.5, 3},
		{"demand of one replica", nil, calm(2+judged, 6), 1.3, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config(t, late)
			c.Autoscalers = []objective.Autoscaler{autoscaler(10_000)}
			c.Period = judged * 24 * time.Hour
			if tt.change != nil {
				tt.change(&c)
			}
			o := newPlayer(t, c)
			play(o, tt.demand)
			if got := o.Report().Served; got.LateShare() > tt.most*late || got.RelativeCost() > tt.maxCost {
				t.Errorf("%.4f late at %.2f times the demand, want at most %v at %v",
					got.LateShare(), got.RelativeCost(), tt.most*late, tt.maxCost)
			}
		})
	}
}

// Two calm weeks make the first wild one little later than it is of a workload without a past.
func TestCalmThenWild(t *testing.T) {
	const late = 0.01
	after := func(days int, seed uint64) float64 {
		c := config(t, late)
		c.Autoscalers = []objective.Autoscaler{autoscaler(10_000)}
		o := newPlayer(t, c)
		play(o, slices.Concat(calm(days, 400), jumpy(7, seed)))
		return o.Report().Served.LateShare()
	}
	for seed := range uint64(4) {
		if fresh, calmed := after(0, seed+20), after(14, seed+20); calmed > 1.25*fresh || calmed > 3*late {
			t.Errorf("seed %d: %.4f is late in the first wild week after two calm ones, %.4f without them", seed,
				calmed, fresh)
		}
	}
}
