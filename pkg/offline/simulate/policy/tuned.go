package policy

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// The constants of the reactive rule that tunes itself, those of the study.
const (
	tuneEvery    = time.Hour
	tuneHalfLife = 240.0 // hours
	// priorHours of mean load is what the prior weighs.
	priorHours = 24.0
	// tuneGain is the saving for which the candidate is changed.
	tuneGain = 0.01
)

// Tuned is a reactive rule that tunes itself: every hour it selects the cheapest candidate that would have met the
// objective on the demand so far. It forecasts nothing; it shows what tuning alone gains.
type Tuned struct {
	rehearsal *Rehearsal
	objective float64
	prior     Scores
	selected  int
	// late and paid of each candidate and arrived fade over tuneHalfLife; total and hours do not.
	late, paid     []float64
	arrived        float64
	total, elapsed float64
}

// NewTuned holds the share of late demand to an objective. The prior is what each of the candidates did on other
// workloads; without one, the first candidate, the most careful, serves until a day has shown what the others do.
func NewTuned(objective float64, r *Rehearsal, prior Scores) (*Tuned, error) {
	n := len(r.candidates)
	known := prior.Late != nil || prior.Cost != nil
	if known && (len(prior.Late) != n || len(prior.Cost) != n) || n == 0 {
		return nil, fmt.Errorf(
			"policy: a prior of %d and %d scores for %d candidates",
			len(prior.Late),
			len(prior.Cost),
			n,
		)
	}
	if !(objective > 0 && objective < 1) {
		return nil, fmt.Errorf("policy: an objective of %v, want a share between 0 and 1", objective)
	}
	t := &Tuned{
		rehearsal: r, objective: objective, prior: prior, selected: -1,
		late: make([]float64, n), paid: make([]float64, n),
	}
	t.selectCandidate()
	return t, nil
}

// Serve is the value of the candidate chosen.
func (t *Tuned) Serve(o simulate.Observation) float64 {
	values := t.rehearsal.Serve(o)
	if t.rehearsal.autoscalers.FullHour() {
		t.learn(t.rehearsal.Score())
		t.rehearsal.Reset()
		t.selectCandidate()
	}
	return values[t.selected]
}

func (t *Tuned) learn(s hpasim.Score) {
	fade := math.Exp2(-tuneEvery.Hours() / tuneHalfLife)
	for i := range t.late {
		t.late[i] = t.late[i]*fade + s.Late[i]
		t.paid[i] = t.paid[i]*fade + s.Paid[i]
	}
	t.arrived = t.arrived*fade + s.Arrived
	t.total += s.Arrived
	t.elapsed += tuneEvery.Hours()
}

// selectCandidate takes the cheapest candidate that meets the objective, or the one that comes nearest to it; one that does is
// kept until another saves enough.
func (t *Tuned) selectCandidate() {
	best := 0
	for i := range t.late {
		if t.better(i, best) {
			best = i
		}
	}
	if t.selected < 0 || !t.meets(t.selected) || t.cost(best) < t.cost(t.selected)*(1-tuneGain) {
		t.selected = best
	}
}

func (t *Tuned) better(i, than int) bool {
	switch {
	case t.meets(i) && t.meets(than):
		return t.cost(i) < t.cost(than)
	case t.meets(i) || t.meets(than):
		return t.meets(i)
	default:
		return t.lateShare(i) < t.lateShare(than)
	}
}

func (t *Tuned) meets(i int) bool { return t.lateShare(i) <= t.objective }

func (t *Tuned) lateShare(i int) float64 { return t.blend(t.late[i], t.prior.Late, i) }

func (t *Tuned) cost(i int) float64 { return t.blend(t.paid[i], t.prior.Cost, i) }

// blend is a share of the demand, with the prior as priorHours of mean load. Without one all candidates are alike at
// first, and the first is chosen.
func (t *Tuned) blend(amount float64, prior []float64, i int) float64 {
	switch {
	case prior == nil && (t.elapsed < priorHours || !(t.arrived > 0)):
		return 1
	case prior == nil:
		return amount / t.arrived
	case !(t.arrived > 0):
		return prior[i]
	}
	weight := priorHours * t.total / t.elapsed
	return (amount + weight*prior[i]) / (t.arrived + weight)
}
