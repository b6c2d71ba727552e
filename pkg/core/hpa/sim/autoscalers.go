package sim

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Simulation simulates autoscalers on the observed demand, in addition to the real one. Each has its own HPA, pods, queue and served value.
type Simulation struct {
	settings  *settings
	workloads []Workload
	// steps is the number of simulated steps per call of Play, each of so many hours.
	steps int
	hours float64
	// started is true once demand has arrived. The workloads start with the replicas that serve it, so that none starts
	// cold.
	started bool
	score   Score
}

// Score sums the demand and, for each simulated autoscaler, the late demand and the replicas paid for, in
// replica-hours.
type Score struct {
	Arrived    float64
	Late, Paid []float64
	// Capped is the late demand that arrived while an HPA was at its maxReplicas.
	Capped []float64
	Hours  float64
	// Deferrable work, and that which Missed its deadline with the first autoscaler.
	Deferrable, Missed float64
}

// NewSimulation simulates n autoscalers in steps of a length from a time on. An HPA syncs within such a step as
// often as a real one, or once where that is no whole number of syncs.
func NewSimulation(spec Spec, n int, start time.Time, step time.Duration) (*Simulation, error) {
	spec = spec.WithDefaults()
	steps := 1
	switch syncs := step / max(spec.Sync, 1); {
	case syncs >= 1 && step%spec.Sync == 0:
		step, steps = spec.Sync, int(syncs)
	case syncs >= 1:
		spec.Sync = step
	default:
		spec.Sync = (spec.Sync + step - 1).Truncate(step)
	}
	one, err := newWorkload(spec, start, step, 0)
	if err != nil {
		return nil, err
	}
	s := &Simulation{
		settings: one.settings, workloads: make([]Workload, n), steps: steps, hours: step.Hours(),
		score: Score{Late: make([]float64, n), Paid: make([]float64, n), Capped: make([]float64, n)},
	}
	for i := range s.workloads {
		s.workloads[i] = one.newSibling()
	}
	return s, nil
}

// Play simulates the step that has ended, with the values served in it and the demand that arrived; NaN where that is
// unknown. Nothing happens before the first demand.
func (s *Simulation) Play(values []float64, arrived float64) {
	if !s.started {
		if math.IsNaN(arrived) {
			return
		}
		s.started = true
		for i := range s.workloads {
			s.workloads[i].cluster.ready = s.settings.initialReplicas(arrived)
		}
	}
	demand := s.settings.arrivalOf(arrived)
	for i := range s.workloads {
		s.play(i, values[i], demand)
	}
	s.score.Hours += float64(s.steps) * s.hours
}

// play simulates the steps of one workload.
func (s *Simulation) play(i int, value float64, demand arrival) {
	w := &s.workloads[i]
	for left := s.steps; left > 0; left-- {
		if w.rest(value, demand, left) {
			s.countRest(i, left, demand)
			return
		}
		f := w.play(value, demand)
		s.count(i, &f)
	}
}

// count adds a step of a workload to the score.
func (s *Simulation) count(i int, f *flow) {
	c := &s.workloads[i].cluster
	if i == 0 {
		s.score.Arrived += hours(f.arrived)
		s.score.Deferrable += hours(f.deferrable.arrived)
		s.score.Missed += hours(f.deferrable.missed)
	}
	s.score.Paid[i] += float64(c.paid()) * s.hours
	if f.late == 0 {
		return
	}
	s.score.Late[i] += hours(f.late)
	if c.replicas() >= s.settings.maxReplicas {
		s.score.Capped[i] += hours(f.late)
	}
}

// countRest adds steps of a workload that are all the same, and in which nothing is late.
func (s *Simulation) countRest(i, steps int, demand arrival) {
	arrived, paid := hours(demand.seconds), float64(s.workloads[i].cluster.paid())*s.hours
	for range steps { // One by one: a product would be rounded otherwise.
		s.score.Paid[i] += paid
		if i == 0 {
			s.score.Arrived += arrived
		}
	}
}

// Defer sets the work that arrives from now on and may wait, see Workload.Defer.
func (s *Simulation) Defer(arrived float64) {
	for i := range s.workloads {
		s.workloads[i].Defer(arrived)
	}
}

// DeadlineFloor is Workload.DeadlineFloor of the first workload, for a lead time.
func (s *Simulation) DeadlineFloor(expected, asked float64, lead time.Duration) float64 {
	return s.workloads[0].DeadlineFloor(expected, asked, stepsIn(lead, s.settings.step))
}

// Deferred is the work that waits for the first workload, in replica-hours.
func (s *Simulation) Deferred() float64 { return hours(s.workloads[0].deferred.total()) }

// Ready returns the ready replicas of a workload.
func (s *Simulation) Ready(i int) int { return s.workloads[i].cluster.ready }

// DeadBand is the one that the values of a workload get past now, empty without Spec.PassDeadBand.
func (s *Simulation) DeadBand(i int) hpa.DeadBand { return s.workloads[i].deadBand() }

// Score returns the sums since Reset. The caller must not change its slices.
func (s *Simulation) Score() Score { return s.score }

// FullHour reports whether an hour was counted since Reset.
func (s *Simulation) FullHour() bool { return s.score.Hours >= time.Hour.Hours()*(1-1e-9) }

// Reset sets the sums to 0.
func (s *Simulation) Reset() {
	clear(s.score.Late)
	clear(s.score.Paid)
	clear(s.score.Capped)
	s.score.Arrived, s.score.Hours, s.score.Deferrable, s.score.Missed = 0, 0, 0, 0
}
