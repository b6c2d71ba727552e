package main

import (
	"math"

	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
)

// leastLate keeps the logarithm of no lateness finite.
const leastLate = 2e-4

// rehearse plays the reactive candidates over the whole trace.
func (t *trial) rehearse() (policy.Scores, error) {
	r, err := policy.NewRehearsal(t.config(1, 0), policy.Candidates())
	if err != nil {
		return policy.Scores{}, err
	}
	if _, err := t.values(rehearsing{r}); err != nil {
		return policy.Scores{}, err
	}
	total := r.Score()
	out := policy.Scores{Late: make([]float64, len(total.Late)), Cost: make([]float64, len(total.Paid))}
	for i := range out.Late {
		out.Late[i], out.Cost[i] = total.Late[i]/total.Arrived, total.Paid[i]/total.Arrived
	}
	return out, nil
}

// prior is what the candidates did on the traces of other families that count: the geometric mean over the families of that
// over their traces. Without another family there is none.
func (t *trial) prior() (policy.Scores, error) {
	families := map[string]int{}
	for _, other := range t.others {
		if other.family != t.family && other.counts() {
			families[other.family]++
		}
	}
	if len(families) == 0 {
		return policy.Scores{}, nil
	}
	n := len(policy.Candidates())
	out := policy.Scores{Late: make([]float64, n), Cost: make([]float64, n)}
	for _, other := range t.others {
		if families[other.family] == 0 || !other.counts() {
			continue
		}
		scores, err := other.rehearsed()
		if err != nil {
			return policy.Scores{}, err
		}
		weight := 1 / float64(len(families)*families[other.family])
		for i := range n {
			out.Late[i] += weight * math.Log(scores.Late[i]+leastLate)
			out.Cost[i] += weight * math.Log(scores.Cost[i])
		}
	}
	for i := range n {
		out.Late[i], out.Cost[i] = math.Exp(out.Late[i]), math.Exp(out.Cost[i])
	}
	return out, nil
}

// rehearsing is a policy that serves nothing while it rehearses.
type rehearsing struct{ rehearsal *policy.Rehearsal }

// Serve plays the candidates.
func (r rehearsing) Serve(o simulate.Observation) float64 {
	r.rehearsal.Serve(o)
	return math.NaN()
}
