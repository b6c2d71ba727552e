package main

import (
	"math"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// leastLate keeps the logarithm of no lateness finite.
const leastLate = 2e-4

// rehearse plays the reactive candidates over the whole trace.
func (t *trial) rehearse() (policy.Scores, error) {
	r, err := policy.NewRehearsal(t.config(1, 0), policy.AllCandidates())
	if err != nil {
		return policy.Scores{}, err
	}
	if _, err := t.values(rehearsingPolicy{r}); err != nil {
		return policy.Scores{}, err
	}
	total := r.Score()
	out := policy.Scores{Late: make([]float64, len(total.Late)), Cost: make([]float64, len(total.Paid))}
	for i := range out.Late {
		out.Late[i], out.Cost[i] = total.Late[i]/total.Arrived, total.Paid[i]/total.Arrived
	}
	return out, nil
}

// reactivePrior is what the candidates did on the traces of other families that count: the geometric mean over the families of that
// over their traces. Without another family there is none.
func (t *trial) reactivePrior() (policy.Scores, error) {
	others := t.otherFamilies()
	if len(others) == 0 {
		return policy.Scores{}, nil
	}
	n := len(policy.AllCandidates())
	out := policy.Scores{Late: make([]float64, n), Cost: make([]float64, n)}
	for k, weight := range trialWeights(others) {
		scores, err := others[k].rehearsed()
		if err != nil {
			return policy.Scores{}, err
		}
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

// otherFamilies are the traces of the other families, as far as they count: what something may be learnt from.
func (t *trial) otherFamilies() []*trial {
	var out []*trial
	for _, other := range t.others {
		if other.family != t.family && other.counts() {
			out = append(out, other)
		}
	}
	return out
}

// rehearsingPolicy is a policy that serves nothing while it rehearses.
type rehearsingPolicy struct{ rehearsal *policy.Rehearsal }

// Serve plays the candidates.
func (r rehearsingPolicy) Serve(o simulate.Observation) float64 {
	r.rehearsal.Serve(o)
	return math.NaN()
}
