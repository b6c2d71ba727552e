package policy

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Rehearsal runs one simulated autoscaler for each candidate on the demand as it arrives.
type Rehearsal struct {
	candidates  []Candidate
	holds       []time.Duration
	recent      []*trailing.Max
	highest     []float64
	values      []float64
	autoscalers *autoscalers
}

// NewRehearsal has the workload's HPA but for its target, which is the full capacity of a replica, and its
// stabilization, which is in the candidates. Of the Config's demand the start counts
// alone, and its step becomes the sync.
func NewRehearsal(c simulate.Config, candidates []Candidate) (*Rehearsal, error) {
	played, err := newAutoscalers(c, len(candidates))
	if err != nil {
		return nil, err
	}
	r := &Rehearsal{candidates: candidates, values: make([]float64, len(candidates)), autoscalers: played}
	for _, candidate := range candidates {
		if r.recentOf(candidate.Hold) < 0 {
			r.holds = append(r.holds, candidate.Hold)
			r.recent = append(r.recent, trailing.NewMax(1+int(candidate.Hold/played.refresh)))
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

// Serve simulates the step that has ended with the values that were served in it, and returns those of the next step,
// in the order of the candidates. They are valid until the next call.
func (r *Rehearsal) Serve(o simulate.Observation) []float64 {
	r.autoscalers.play(r.values, o.Arrived)
	for i := range r.recent {
		r.highest[i] = r.recent[i].Push(o.Demand)
	}
	for i, c := range r.candidates {
		r.values[i] = r.highest[r.recentOf(c.Hold)] / c.Share
	}
	return r.values
}

// Score is the count so far; the slices are the Rehearsal's own.
func (r *Rehearsal) Score() hpasim.Score { return r.autoscalers.Score() }

// Reset clears the counts.
func (r *Rehearsal) Reset() { r.autoscalers.Reset() }
