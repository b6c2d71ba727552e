package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Rehearsal plays every candidate to a workload of its own, on the demand as it arrives. Each has its own HPA, pods and
// queue, of the same kind as the real ones.
type Rehearsal struct {
	candidates []Candidate
	holds      []time.Duration
	recent     []trailing
	highest    []float64
	values     []float64
	workloads  []*simulate.Workload
	// syncs from one observation to the next, of so many hours each.
	syncs   int
	hours   float64
	started bool
	// score is what was counted since Reset.
	score Score
}

// Score counts what the candidates' workloads did: the demand, and of each candidate what was late and what was paid, in
// replica-hours.
type Score struct {
	Arrived    float64
	Late, Paid []float64
	Hours      float64
}

// NewRehearsal has the workload's HPA but for its target, which is the full capacity of a replica, and its
// stabilization, which is in the candidates. Of the Config's demand the start counts alone, and its step becomes the sync.
func NewRehearsal(c simulate.Config, candidates []Candidate) (*Rehearsal, error) {
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
	r := &Rehearsal{
		candidates: candidates,
		values:     make([]float64, len(candidates)),
		syncs:      int(c.Refresh / c.Sync),
		hours:      c.Sync.Hours(),
		score:      Score{Late: make([]float64, len(candidates)), Paid: make([]float64, len(candidates))},
	}
	for range candidates {
		w, err := simulate.NewWorkload(c, 0)
		if err != nil {
			return nil, err
		}
		r.workloads = append(r.workloads, w)
	}
	for _, candidate := range candidates {
		if r.recentOf(candidate.Hold) < 0 {
			r.holds = append(r.holds, candidate.Hold)
			r.recent = append(r.recent, newTrailing(1+int(candidate.Hold/c.Refresh)))
			r.highest = append(r.highest, math.NaN())
		}
	}
	return r, nil
}

func (r *Rehearsal) recentOf(hold time.Duration) int {
	for i, h := range r.holds {
		if h == hold {
			return i
		}
	}
	return -1
}

// Serve plays the step that has ended with the values that were served in it, and sets those of the next. The values are
// good until the next call, in the order of the candidates.
func (r *Rehearsal) Serve(o simulate.Observation) []float64 {
	if r.started {
		r.play(o.Arrived)
	}
	r.started = true
	for i := range r.recent {
		r.highest[i] = r.recent[i].push(o.Demand)
	}
	for i, c := range r.candidates {
		r.values[i] = r.highest[r.recentOf(c.Hold)] / c.Share
	}
	return r.values
}

func (r *Rehearsal) play(arrived float64) {
	for i, w := range r.workloads {
		for range r.syncs {
			m := w.Step(r.values[i], arrived)
			r.score.Late[i] += m.Late
			r.score.Paid[i] += float64(m.Held) * r.hours
			if i == 0 {
				r.score.Arrived += m.Arrived
			}
		}
	}
	r.score.Hours += float64(r.syncs) * r.hours
}

// Score is what was counted so far; the slices are the Rehearsal's own.
func (r *Rehearsal) Score() Score { return r.score }

// Reset begins to count anew.
func (r *Rehearsal) Reset() {
	clear(r.score.Late)
	clear(r.score.Paid)
	r.score = Score{Late: r.score.Late, Paid: r.score.Paid}
}
