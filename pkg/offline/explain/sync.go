package explain

import (
	"math"
	"sort"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

const (
	// syncPeriod is the default of the controller-manager's --horizontal-pod-autoscaler-sync-period.
	syncPeriod = 15 * time.Second
	// settleLimit limits how far the simulation looks ahead for the final number. In this time, a policy of one pod in half an hour adds
	// twelve pods.
	settleLimit = 6 * time.Hour
	// hugeDemand is a demand that exceeds any number of replicas.
	hugeDemand = math.MaxInt64
)

// controller returns a controller with the state that is known from outside. The present replicas are its last recommendation, and the
// status shows the last change that it remembers.
func (s *Input) controller() (*hpa.Controller, error) {
	c, err := hpa.New(s.Spec)
	if err != nil {
		return nil, err
	}
	from, known := s.replicasBefore()
	if known {
		c.RecordScaling(s.Live.LastScale, from, s.Scale.Replicas)
	}
	return c, nil
}

// settle continues after a first sync until nothing changes any more, provided that the readings stay the same.
func (s *Input) settle(c *hpa.Controller, first int32) Settling {
	o := s.observed()
	last := Settling{Replicas: first}
	for elapsed := syncPeriod; elapsed <= settleLimit; elapsed += syncPeriod {
		o.Replicas, o.Existing, o.Pods, o.Ready = last.Replicas, last.Replicas, last.Replicas, last.Replicas
		next := c.Sync(s.Now.Add(elapsed), o).Replicas
		if next != last.Replicas {
			last = Settling{Replicas: next, Seconds: elapsed.Seconds()}
		}
		if elapsed.Seconds()-last.Seconds > s.memory().Seconds()+syncPeriod.Seconds() {
			return last
		}
	}
	last.Open = last.Seconds > 0 && settleLimit.Seconds()-last.Seconds <= s.memory().Seconds()
	return last
}

// memory returns how far back the controller looks.
func (s *Input) memory() time.Duration {
	back := s.Spec.DownStabilization()
	if b := s.Spec.Behavior; b != nil {
		back = max(back, b.Up.Stabilization, b.Up.LongestPeriod(), b.Down.LongestPeriod())
	}
	return back
}

// reachable returns how many replicas can be requested, from a number of replicas, after a time of unlimited demand. The scale-up window
// and the policies limit it.
func (s *Input) reachable(from int32, after time.Duration) int32 {
	spec := s.Spec
	spec.Cluster.Tolerance = 0
	spec.Metrics = []hpa.Metric{{Name: "demand", Source: hpa.Object, Type: hpa.AverageValue, Target: 1}}
	if spec.Behavior != nil {
		behavior := *spec.Behavior
		behavior.Up.Tolerance = nil
		spec.Behavior = &behavior
	}
	c, err := hpa.New(spec)
	if err != nil { // This does not happen for a spec that is valid with its own metrics.
		return math.MaxInt32
	}
	at := max(from, 1)
	for elapsed := time.Duration(0); elapsed <= after && at < spec.Max; elapsed += syncPeriod {
		o := hpa.Observed{Replicas: at, Existing: at, Readings: []hpa.Reading{{Values: []int64{hugeDemand}}}}
		at = c.Sync(s.Now.Add(elapsed), o).Replicas
	}
	return at
}

// replicasBefore returns the number of replicas before the last change, if it still matters. The controller counts the change against the
// policies, and starts workloads that it has scaled to zero itself. The status shows the number if it is from the sync that made the
// change, or if a limit that it reports implies the number.
func (s *Input) replicasBefore() (replicas int32, known bool) {
	live := s.Live
	if live == nil || live.LastScale.After(s.Now) {
		return 0, false
	}
	if slept, _ := live.Condition("ScaledToZero"); slept.True && s.Scale.Replicas == 0 {
		return 1, true
	}
	b := s.Spec.Behavior
	if b == nil || live.LastScale.IsZero() || live.Desired != s.Scale.Replicas {
		return 0, false
	}
	limited, _ := live.Condition("ScalingLimited")
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

// nearestBefore returns the number of replicas that is nearest to the present number, in one direction, from which the policies lead no
// further than to the present number.
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

// policyLimit returns the number of replicas that the policies allow at a first sync on a demand, without any other limit.
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
