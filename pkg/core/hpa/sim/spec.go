package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// The defaults of a Spec.
const (
	// DefaultSync is the sync period of the HPA controller.
	DefaultSync = 15 * time.Second
	// DefaultWait is how long demand may wait without being late.
	DefaultWait = 30 * time.Second
	// defaultTimeout is how long requests wait before they are dropped.
	defaultTimeout = 2 * time.Minute
)

// Spec describes a simulated workload. Zero durations have the defaults above.
type Spec struct {
	// Capacity is the demand that a ready replica serves: at least 0.001, the resolution of what the HPA reads.
	Capacity float64
	// HPA scales the workload. It has one metric: the served value.
	HPA hpa.Spec
	// FromZero: a workload that begins without replicas was scaled to zero by its HPA, which therefore wakes it.
	FromZero bool
	// Sync is the period of the HPA's controller.
	Sync time.Duration
	// PodLead is the lead time of a pod that has a place.
	PodLead LeadTime
	// Nodes describes the nodes; nil means unlimited places. Places is how many a replica takes, 0 for 1.
	Nodes  *Nodes
	Places int
	// Demand that waits longer than Wait is late; demand that waits longer than Timeout is dropped.
	Wait, Timeout time.Duration
	// Deadline of the work that may wait until then (see Workload.Defer); 0 where there is none.
	Deadline time.Duration
	// PassDeadBand raises what the HPA reads wherever its tolerance would hide that more is served than its replicas sustain.
	PassDeadBand bool
	// Interruptions is how often a ready replica is lost in an hour, as on spot nodes. A replacement is started.
	Interruptions float64
	// Seed of the random lead times and interruptions.
	Seed uint64
}

// WithDefaults replaces zeros by the defaults. The timeout is at least the wait.
func (s Spec) WithDefaults() Spec {
	s.Sync = cmp.Or(s.Sync, DefaultSync)
	s.Wait = cmp.Or(s.Wait, DefaultWait)
	s.Timeout = cmp.Or(s.Timeout, max(defaultTimeout, s.Wait))
	s.Places = cmp.Or(s.Places, 1)
	return s
}

// Validate returns every problem of a Spec that is simulated in steps of a length.
func (s Spec) Validate(step time.Duration) error {
	filled := s.WithDefaults()
	return filled.validate(step)
}

func (s Spec) validate(step time.Duration) error {
	problems := []error{s.HPA.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(s.HPA.Metrics) != 1 {
		wrong("HPA with %d metrics: expected 1", len(s.HPA.Metrics))
	}
	if !(s.Capacity >= minCapacity) || math.IsInf(s.Capacity, 0) {
		wrong("capacity %v: expected at least %v", s.Capacity, minCapacity)
	}
	if s.Deadline < 0 || s.Deadline > longestDeadline {
		wrong("deadline %s: expected 0 to %s", s.Deadline, longestDeadline)
	}
	if step <= 0 || s.Sync < step || s.Sync%step != 0 {
		wrong("sync period %s with step %s: expected a whole number of steps", s.Sync, step)
	}
	if s.Wait < 0 || s.Timeout < s.Wait {
		wrong("wait %s with timeout %s: expected 0 or more, and a timeout of at least the wait", s.Wait, s.Timeout)
	}
	if !(s.Interruptions >= 0 && s.Interruptions <= maxInterruptions) {
		wrong("%v interruptions an hour: expected 0 to %v", s.Interruptions, maxInterruptions)
	}
	problems = append(problems, validateLead("pod", s.PodLead))
	if s.Places < 1 || s.Nodes != nil && s.Nodes.Places < 0 {
		wrong("a replica takes %d places: expected 1 or more, and a cluster of 0 or more places", s.Places)
	}
	if s.Nodes != nil && s.Nodes.Places == 0 {
		problems = append(problems, validateLead("node", s.Nodes.Lead))
		if s.Nodes.PodsPerNode < 1 || s.Nodes.KeepIdle < 0 {
			wrong("%d pods per node, idle nodes kept for %s: expected 1 or more, and 0 or more",
				s.Nodes.PodsPerNode, s.Nodes.KeepIdle)
		}
	}
	return errors.Join(problems...)
}

// maxInterruptions of a replica in an hour is one a minute.
const maxInterruptions = 60.0

// minCapacity is the resolution of what the HPA reads.
const minCapacity = 0.001

// longestLead refuses a wrong unit.
const longestLead = 7 * 24 * time.Hour

// longestDeadline bounds the memory of work that waits.
const longestDeadline = 24 * time.Hour

func validateLead(what string, lead LeadTime) error {
	if lead == nil {
		return fmt.Errorf("%s without a lead time: expected one, 0 is allowed", what)
	}
	if e, ok := lead.(Empirical); ok && len(e) == 0 {
		return fmt.Errorf("%s without measured lead times: expected at least one", what)
	}
	if l, ok := lead.(LogNormal); ok && !(l.Sigma >= 0 && l.Sigma < longestLogNormal) {
		return fmt.Errorf("%s lead time: sigma %v, expected 0 to %v", what, l.Sigma, longestLogNormal)
	}
	if longest := lead.longest(); longest < 0 || longest > longestLead {
		return fmt.Errorf("%s lead time: up to %s, expected 0 to %s", what, longest, longestLead)
	}
	return nil
}

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
	places        int     // of a replica
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
		places:        s.Places,
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
