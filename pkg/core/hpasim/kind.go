package hpasim

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// kind is what workloads of one Spec have in common. It never changes: shadows share it.
type kind struct {
	start  time.Time
	length time.Duration // of a step
	// seconds are the length, wait is how long demand may wait without being late, patience when a client gives up.
	seconds, wait, patience float64
	capacity                float64
	every                   int // steps from one sync to the next
	// least and most are the bounds of the HPA.
	least, most int
	pod         Lead
	// steps of a pod's lead time, where it is constant; longest bounds it.
	steps, longest int
	constant       bool
	nodes          *Nodes
	seed           uint64
	// repeats: a sync that repeats needs no look at the metric, where pods are none of it.
	repeats bool
}

func newKind(s *Spec, start time.Time, step time.Duration) *kind {
	k := &kind{
		start: start, length: step, seconds: step.Seconds(), wait: s.Wait.Seconds(), patience: s.Patience.Seconds(),
		capacity: s.Capacity, every: int(s.Sync / step), pod: s.Pod, longest: stepsIn(s.Pod.Longest(), step),
		least: int(s.HPA.Min), most: int(s.HPA.Max), nodes: s.Nodes, seed: s.Seed,
		repeats: s.HPA.Metrics[0].Type == hpa.AverageValue,
	}
	var lead Constant
	if lead, k.constant = s.Pod.(Constant); k.constant {
		k.steps = stepsIn(time.Duration(lead), step)
	}
	return k
}

// first is how many replicas serve a demand, NaN counting as none.
func (k *kind) first(demand float64) int {
	wanted := 0.0
	if demand > 0 {
		wanted = math.Ceil(demand / k.capacity)
	}
	return int(min(max(wanted, float64(k.least)), float64(k.most)))
}

// stepsIn is a duration in steps, rounded up: what is ready within a step serves from the next one on.
func stepsIn(d, step time.Duration) int { return int((d + step - 1) / step) }
