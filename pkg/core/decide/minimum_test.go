package decide_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// withTargets are autoscalers with targets in thousandths.
func withTargets(milli ...int64) (out []decide.Autoscaler) {
	for _, m := range milli {
		out = append(out, decide.Autoscaler{HPA: hpa.Spec{Metrics: []hpa.Metric{{Target: m}}}})
	}
	return out
}

// An HPA that reads the metrics API, and KEDA's, run exactly the replicas, whatever the target is.
func TestValueOfRunsExactlyTheReplicas(t *testing.T) {
	replicas := func(milli, target int64) int32 { return int32(math.Ceil(float64(milli) / float64(target))) }
	for _, target := range []int64{1, 3, 7, 300, 999, 1001, 7_333, 64_000, 333_333, 123_456_789, 4_000_000_000} {
		for n := int32(1); n <= 1000; n++ {
			value := decide.ValueOf(withTargets(2*target, target, target+1), n)
			milli, ok := hpa.Milli(value)
			keda := int64(math.Ceil(value*1000) / 1000 * 1000) // KEDA truncates what Forewarm rounds up.
			if !ok || replicas(milli, target) != n || replicas(keda, target) != n {
				t.Fatalf("%d replicas of %d/1000: %v is read as %d or %d", n, target, value, milli, keda)
			}
		}
	}
	for _, all := range [][]decide.Autoscaler{nil, withTargets(0), withTargets(math.MaxInt64 / 2)} {
		if got := decide.ValueOf(all, 1000); got != 0 {
			t.Errorf("%v: %v", all, got)
		}
	}
}

// The replicas of an event are the last step of a decision. Without them it has the same bits.
func TestReplicasAreServedAsTheyAre(t *testing.T) {
	target := 64.0
	for name, c := range map[string]struct {
		settings      decide.Settings
		minimum, want float64
		reason        string
	}{
		"none":                {decide.Settings{Target: target}, 0, 126, "126 in total"},
		"fewer than forecast": {decide.Settings{Target: target}, 64, 126, "126 in total"},
		"headroom":            {decide.Settings{Target: target}, 320, 320, "; raised from 126 to 320 for the replicas that events ask for"},
		"a quantile":          {decide.Settings{Quantile: .95}, 320, 320, "raised from 120 to 320"},
		"the forecast alone":  {decide.Settings{Quantile: .95, Mode: decide.Forecast}, 320, 320, "raised from 120 to 320"},
		"more than it can":    {decide.Settings{Target: target, MaxCapacity: 256}, 320, 256, "raised from 126 to 256"},
		"shadow mode":         {decide.Settings{Target: target, Mode: decide.Shadow}, 320, 90, "would serve 320: "},
	} {
		in := input(90, 100, 120)
		in.Minimum, in.DeadBand = c.minimum, hpa.DeadBand{From: 319, To: 330} // It would add a replica.
		got := decide.Decide(c.settings, 1.3, []decide.Input{in})
		if got.Value != c.want || !strings.Contains(got.Reason(), c.reason) {
			t.Errorf("%s: %v, %s", name, got.Value, got.Reason())
		}
	}
	settings := decide.Settings{Target: target, ZeroBelow: 6.4}
	d := decide.Fallback(settings, decide.ByObserved, 0, 0, 0)
	d.RaiseTo(settings, 3)
	paused := decide.Pause{Capacity: 1, Target: 1}.Apply(d, 0)
	if d.IsIdle(settings) || d.Value != 3 || paused.Value != 0 {
		t.Errorf("with replicas: %+v, in a pause %+v", d, paused)
	}
}
