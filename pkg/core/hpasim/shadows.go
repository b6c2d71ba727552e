package hpasim

import (
	"math"
	"time"
)

// Shadows are workloads of one kind beside the real one, on the demand as it arrives: each with an HPA, pods and a queue
// of its own, and a value of its own that its HPA reads.
type Shadows struct {
	kind      *kind
	workloads []Workload
	// steps of a workload in one call of Play, of so many hours each.
	steps int
	hours float64
	// begun: demand has arrived. The workloads begin with the replicas that serve it, so that none begins cold.
	begun bool
	score Score
}

// Score counts what shadows did: the demand, and of each what was late and what was paid, in replica-hours.
type Score struct {
	Arrived    float64
	Late, Paid []float64
	// Capped is the late demand that came while an HPA stood at its most.
	Capped []float64
	Hours  float64
}

// NewShadows are n of them, played in steps of a length from a time on. An HPA syncs within such a step as often as it
// would in earnest; where that is no whole number of times, once a step.
func NewShadows(spec Spec, n int, start time.Time, step time.Duration) (*Shadows, error) {
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
	one, err := New(spec, start, step, 0)
	if err != nil {
		return nil, err
	}
	s := &Shadows{
		kind: one.kind, workloads: make([]Workload, n), steps: steps, hours: step.Hours(),
		score: Score{Late: make([]float64, n), Paid: make([]float64, n), Capped: make([]float64, n)},
	}
	for i := range s.workloads {
		s.workloads[i] = one.another()
	}
	return s, nil
}

// Play plays the step that has ended, with the values that were served in it and the demand that arrived, NaN where that
// is not known. Nothing is played before the first demand.
func (s *Shadows) Play(values []float64, arrived float64) {
	if !s.begun {
		if math.IsNaN(arrived) {
			return
		}
		s.begun = true
		for i := range s.workloads {
			s.workloads[i].cluster.ready = s.kind.first(arrived)
		}
	}
	for i := range s.workloads {
		s.play(i, values[i], arrived)
	}
	s.score.Hours += float64(s.steps) * s.hours
}

// play plays the steps of one of the workloads. Where it rests after the first, the others are no different.
func (s *Shadows) play(i int, value, arrived float64) {
	w := &s.workloads[i]
	f := w.play(value, arrived)
	s.count(i, f)
	resting := s.steps > 1 && f.late == 0 && w.rests(s.steps-1)
	for range s.steps - 1 {
		if !resting {
			f = w.play(value, arrived)
		}
		s.count(i, f)
	}
}

// count adds a step of a workload.
func (s *Shadows) count(i int, f flow) {
	c := &s.workloads[i].cluster
	if i == 0 {
		s.score.Arrived += hours(f.arrived)
	}
	s.score.Paid[i] += float64(c.held()) * s.hours
	if f.late == 0 {
		return
	}
	s.score.Late[i] += hours(f.late)
	if c.replicas() >= s.kind.most {
		s.score.Capped[i] += hours(f.late)
	}
}

// Score is what was counted since Reset; its slices are the Shadows' own.
func (s *Shadows) Score() Score { return s.score }

// AnHour says whether an hour was counted since Reset.
func (s *Shadows) AnHour() bool { return s.score.Hours >= time.Hour.Hours()*(1-1e-9) }

// Reset begins to count anew.
func (s *Shadows) Reset() {
	clear(s.score.Late)
	clear(s.score.Paid)
	clear(s.score.Capped)
	s.score.Arrived, s.score.Hours = 0, 0
}
