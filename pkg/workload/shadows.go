package workload

import (
	"math"
	"time"
)

// Shadows are workloads of one kind beside the real one, on the demand as it arrives: each with an HPA, pods and a queue
// of its own, and a value of its own that its HPA reads.
type Shadows struct {
	spec Spec
	// step of a workload; steps of it in one call of Play.
	step      time.Duration
	steps     int
	workloads []*Workload
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
	s := &Shadows{
		workloads: make([]*Workload, n), step: step, steps: 1,
		score: Score{Late: make([]float64, n), Paid: make([]float64, n), Capped: make([]float64, n)},
	}
	switch syncs := step / max(spec.Sync, 1); {
	case syncs >= 1 && step%spec.Sync == 0:
		s.step, s.steps = spec.Sync, int(syncs)
	case syncs >= 1:
		spec.Sync = step
	default:
		spec.Sync = (spec.Sync + step - 1).Truncate(step)
	}
	s.spec = spec
	for i := range s.workloads {
		w, err := New(spec, start, s.step, 0)
		if err != nil {
			return nil, err
		}
		s.workloads[i] = w
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
		for _, w := range s.workloads {
			w.cluster.ready = first(&s.spec, arrived)
		}
	}
	for i, w := range s.workloads {
		for range s.steps {
			s.score.count(i, w.Step(values[i], arrived), s.step.Hours(), int(s.spec.HPA.Max))
		}
	}
	s.score.Hours += float64(s.steps) * s.step.Hours()
}

// count adds a moment of a workload, of so many hours, whose HPA asks for a number of replicas at most.
func (s *Score) count(i int, m Moment, hours float64, most int) {
	s.Late[i] += m.Late
	s.Paid[i] += float64(m.Held) * hours
	if m.Replicas >= most {
		s.Capped[i] += m.Late
	}
	if i == 0 {
		s.Arrived += m.Arrived
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
