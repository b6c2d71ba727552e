package explain

import (
	"math"
	"sort"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

const (
	// syncPeriod is the controller-manager's --horizontal-pod-autoscaler-sync-period where it has no flags.
	syncPeriod = 15 * time.Second
	// settleLimit is how long is looked ahead for an end. A policy of one pod in half an hour takes that for twelve.
	settleLimit = 6 * time.Hour
	// hugeDemand is a demand above any number of replicas.
	hugeDemand = math.MaxInt64
)

// controller is the HPA's as far as it is known from outside: the present replicas are what it recommended last, and what
// its status tells of the last change it remembers.
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

// settle goes on after a first sync until the readings, if they stay, change nothing any more.
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

// memory is how far back the controller looks at most.
func (s *Input) memory() time.Duration {
	back := s.Spec.DownStabilization()
	if b := s.Spec.Behavior; b != nil {
		back = max(back, b.Up.Stabilization, b.Up.LongestPeriod(), b.Down.LongestPeriod())
	}
	return back
}

// reachable is how many replicas can be asked for, from a number of them, after a time in which the demand is without bound:
// what the scale-up window and policies leave of it.
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
	if err != nil { // Not of a spec that is valid with its own metrics.
		return math.MaxInt32
	}
	at := max(from, 1)
	for elapsed := time.Duration(0); elapsed <= after && at < spec.Max; elapsed += syncPeriod {
		o := hpa.Observed{Replicas: at, Existing: at, Readings: []hpa.Reading{{Values: []int64{hugeDemand}}}}
		at = c.Sync(s.Now.Add(elapsed), o).Replicas
	}
	return at
}

// replicasBefore is how many replicas there were before the last change, as far as it still matters: the controller counts it
// against the policies, and wakes what it put to sleep itself. A status tells it as long as it is of the sync that made
// the change, or where a limit that it names says what must have been.
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
