package sim

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// settings are what workloads of one Spec have in common. They never change and are shared.
type settings struct {
	start time.Time
	began hpa.Instant   // the start
	step  time.Duration // of a step
	// wait is how long demand may wait without being late; demand that waits longer than timeout is dropped. All in
	// seconds.
	stepSeconds, wait, timeout float64
	capacity                   float64
	syncSteps                  int // from one sync to the next
	// minReplicas and maxReplicas are the limits of the HPA.
	minReplicas, maxReplicas int
	hpa                      hpa.Spec
	passDeadBand             bool
	deadlineSteps            int
	pod                      LeadTime
	// leadSteps is a constant lead time in steps.
	leadSteps     int
	constantLead  bool
	nodes         *Nodes
	interruptions float64 // of a replica in a step
	seed          uint64
}

func newSettings(s *Spec, start time.Time, step time.Duration) *settings {
	k := &settings{
		start:         start,
		began:         hpa.InstantOf(start),
		step:          step,
		stepSeconds:   step.Seconds(),
		wait:          s.Wait.Seconds(),
		timeout:       s.Timeout.Seconds(),
		capacity:      s.Capacity,
		syncSteps:     int(s.Sync / step),
		pod:           s.PodLead,
		minReplicas:   int(s.HPA.Min),
		maxReplicas:   int(s.HPA.Max),
		hpa:           s.HPA,
		passDeadBand:  s.PassDeadBand,
		deadlineSteps: stepsIn(s.Deadline, step),
		nodes:         s.Nodes,
		interruptions: s.Interruptions * step.Hours(),
		seed:          s.Seed,
	}
	var lead Constant
	if lead, k.constantLead = s.PodLead.(Constant); k.constantLead {
		k.leadSteps = stepsIn(time.Duration(lead), step)
	}
	return k
}

// initialReplicas returns the replicas that serve a demand; NaN counts as no demand.
func (k *settings) initialReplicas(demand float64) int {
	wanted := 0.0
	if demand > 0 {
		wanted = math.Ceil(demand / k.capacity)
	}
	return int(min(max(wanted, float64(k.minReplicas)), float64(k.maxReplicas)))
}

// stepsIn returns a duration in steps, rounded up: what becomes ready within a step serves from the next one on.
func stepsIn(d, step time.Duration) int { return int((d + step - 1) / step) }
