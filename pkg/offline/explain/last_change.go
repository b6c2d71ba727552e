package explain

import (
	"math"
	"sort"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// replicasBefore is how many replicas there were before the last change, as far as it still matters: the controller counts it
// against the policies, and wakes what it put to sleep itself. A status tells it as long as it is of the sync that made
// the change, or where a limit that it names says what must have been.
func (s *Input) replicasBefore() (replicas int32, known bool) {
	live := s.Live
	if live == nil || live.LastScale.After(s.Now) {
		return 0, false
	}
	if slept, _ := live.condition("ScaledToZero"); slept.True && s.Scale.Replicas == 0 {
		return 1, true
	}
	b := s.Spec.Behavior
	if b == nil || live.LastScale.IsZero() || live.Desired != s.Scale.Replicas {
		return 0, false
	}
	limited, _ := live.condition("ScalingLimited")
	ago := s.Now.Sub(live.LastScale)
	switch {
	case live.Current != live.Desired:
		return live.Current, true
	case limited.Reason == string(hpa.ScaleUpLimit) && ago < b.Up.LongestPeriod():
		return s.nearestBefore(func(n int32) bool { return s.policyLimit(n, hugeDemand) <= s.Scale.Replicas },
			s.Scale.Replicas, -1)
	case limited.Reason == string(hpa.ScaleDownLimit) && ago < b.Down.LongestPeriod():
		return s.nearestBefore(func(n int32) bool { return s.policyLimit(n, 0) >= s.Scale.Replicas },
			s.Scale.Replicas, 1)
	}
	return 0, false
}

// nearestBefore is the number of replicas nearest to those that there are, in one direction, from which the policies come no
// further than to them.
func (*Input) nearestBefore(within func(int32) bool, replicas int32, direction int) (int32, bool) {
	most := int(replicas) - 1
	if direction > 0 {
		most = math.MaxInt32 - int(replicas)
	}
	at := func(i int) int32 { return replicas + int32(direction*(i+1)) } //nolint:gosec // Between 1 and MaxInt32.
	i := sort.Search(most, func(i int) bool { return within(at(i)) })
	if i == most {
		return 0, false
	}
	return at(i), true
}

// policyLimit is where the policies let a first sync go on a demand, with no other limit.
func (s *Input) policyLimit(from int32, demand int64) int32 {
	behavior := *s.Spec.Behavior
	none := 0.0
	behavior.Up.Tolerance, behavior.Down.Tolerance = &none, &none
	behavior.Up.Stabilization, behavior.Down.Stabilization = 0, 0
	c, err := hpa.New(hpa.Spec{
		Min: 1, Max: math.MaxInt32, Behavior: &behavior,
		Metrics: []hpa.Metric{{Name: "demand", Source: hpa.Object, Type: hpa.AverageValue, Target: 1}},
	})
	if err != nil {
		return from
	}
	o := hpa.Observed{Replicas: from, Existing: from, Readings: []hpa.Reading{{Values: []int64{demand}}}}
	return c.Sync(s.Now, o).Replicas
}
