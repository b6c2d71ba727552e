package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// shadows are workloads beside the real one, on the demand as it arrives: each with an HPA, pods and a queue of its own,
// of the same kind as the real ones.
type shadows struct {
	workloads []*simulate.Workload
	refresh   time.Duration
	// syncs from one observation to the next, of so many hours each.
	syncs   int
	hours   float64
	started bool
	// score is what was counted since reset.
	score Score
}

// Score counts what workloads did: the demand, and of each what was late and what was paid, in replica-hours.
type Score struct {
	Arrived    float64
	Late, Paid []float64
	Hours      float64
}

// newShadows has the workload's HPA but for its target, which is the full capacity of a replica, and its stabilization,
// which is in what is served.
func newShadows(c simulate.Config, n int) (*shadows, error) {
	if c.Sync == 0 {
		c.Sync = simulate.DefaultSync
	}
	if c.Refresh == 0 {
		c.Refresh = c.Sync
	}
	c.Demand = forecast.Series{Start: c.Demand.Start, Step: c.Sync}
	c.Record = nil
	c.HPA = unstabilized(c.HPA)
	if len(c.HPA.Metrics) == 1 {
		metric := c.HPA.Metrics[0]
		metric.Target = int64(math.Round(c.Capacity * 1000))
		c.HPA.Metrics = append(c.HPA.Metrics[:0:0], metric)
	}
	s := &shadows{
		refresh: c.Refresh, syncs: int(c.Refresh / c.Sync), hours: c.Sync.Hours(),
		score: Score{Late: make([]float64, n), Paid: make([]float64, n)},
	}
	for range n {
		w, err := simulate.NewWorkload(c, 0)
		if err != nil {
			return nil, err
		}
		s.workloads = append(s.workloads, w)
	}
	return s, nil
}

// play plays the step that has ended, with the values that were served in it. The first call has no step before it.
func (s *shadows) play(values []float64, arrived float64) {
	if !s.started {
		s.started = true
		return
	}
	for i, w := range s.workloads {
		for range s.syncs {
			m := w.Step(values[i], arrived)
			s.score.Late[i] += m.Late
			s.score.Paid[i] += float64(m.Held) * s.hours
			if i == 0 {
				s.score.Arrived += m.Arrived
			}
		}
	}
	s.score.Hours += float64(s.syncs) * s.hours
}

// anHour says whether an hour was counted.
func (s *shadows) anHour() bool { return s.score.Hours >= time.Hour.Hours()*(1-1e-9) }

func (s *shadows) reset() {
	clear(s.score.Late)
	clear(s.score.Paid)
	s.score.Arrived, s.score.Hours = 0, 0
}
