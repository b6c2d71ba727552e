package outcome

import (
	"fmt"
	"math"
)

// gate chooses whose shape is served: the cheapest that meets the objective.
type gate struct {
	// serving is the index of a candidate.
	serving int
	// challenger has been cheaper for so many hours, and by so much in sum: a tenth of the cost for ten hours is 1.
	challenger, hours int
	gained            float64
	// why it serves.
	why string
	// priced says that the loss is not the cost alone but, at a price, what is late too.
	priced bool
}

const (
	// gain is by how much cheaper a challenger must be, as a share of the cost.
	gain = 0.03
	// promotion is for how many hours on end it must be, where it is just so much cheaper; twice as much takes half as long,
	// but leastPromotion. On recorded demand a day's proof of little was luck more often than not: who was promoted on it
	// cost more from then on than who had served.
	promotion      = 72
	leastPromotion = 24
	// relief is how many times the cost may be that of a candidate which meets the objective when who serves no longer does.
	relief = 1.5
)

// choose looks at the scores of all candidates, once an hour; the loss is what is to be least.
func (g *gate) choose(all []Candidate, loss func(Candidate) float64) {
	now := all[g.serving]
	best := cheapest(all, loss)
	switch {
	case best < 0 || best == g.serving:
		g.hours = 0
	case !now.Meets && loss(all[best]) <= relief*loss(now):
		g.promote(best, now.Name+" no longer meets the objective", all)
	case !(loss(all[best]) <= (1-gain)*loss(now)):
		g.hours = 0
	default:
		g.challenge(best, 1-loss(all[best])/loss(now), all)
	}
}

// challenge counts an hour for which a candidate was cheaper by enough.
func (g *gate) challenge(by int, share float64, all []Candidate) {
	if g.challenger != by || g.hours == 0 {
		g.challenger, g.hours, g.gained = by, 0, 0
	}
	g.hours++
	g.gained += share
	if g.hours >= leastPromotion && g.gained >= promotion*gain*(1-1e-9) {
		now := all[g.serving]
		g.promote(by, fmt.Sprintf("%s would cost %s, for %d hours on end", now.Name, g.cost(now), g.hours), all)
	}
}

func (g *gate) promote(to int, because string, all []Candidate) {
	g.why = fmt.Sprintf("%s took over at a cost of %s: %s", all[to].Name, g.cost(all[to]), because)
	g.serving, g.challenger, g.hours = to, to, 0
}

// cost of a candidate in words, with all that it is chosen by.
func (g *gate) cost(c Candidate) string {
	if g.priced {
		return fmt.Sprintf("%.3g with %s late", c.Cost, percent(c.Late))
	}
	return fmt.Sprintf("%.3g", c.Cost)
}

// cheapest is the index of the candidate that meets the objective at the least loss; −1 where none is known to.
func cheapest(all []Candidate, loss func(Candidate) float64) int {
	best, least := -1, math.Inf(1)
	for i, c := range all {
		if c.Meets && loss(c) < least {
			best, least = i, loss(c)
		}
	}
	return best
}
