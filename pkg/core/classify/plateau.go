package classify

import "time"

const (
	// band is how far from the capacity a plateau may lie, as a share of it: the capacity is a round number that somebody
	// wrote down, and what is measured wavers.
	band = 0.05
	// settle is how long, and settleSteps how many samples, the demand must have stayed in the band: what only passes
	// through it on its way up or down is not held there.
	settle      = 2 * time.Minute
	settleSteps = 4
)

// plateau sees a demand that stays at capacity. It is one that the replicas hold there: what they cannot serve does not
// show. A demand that happens to lie there is taken for a lower bound of itself, which costs little: it is served as it
// is, and no autoscaler can use more.
//
// Worked: 20 replicas of 50 requests/s carry 1,000; steps of 30 s at 990, 1010, 985, 1000, 1020 are known four times less
// one, and at least 1000 and 1020 from then on.
type plateau struct {
	low, high float64
	settled   int
	run       int
}

func newPlateau(c Config) plateau {
	return plateau{
		low: (1 - band) * c.Capacity, high: (1 + band) * c.Capacity,
		settled: max(settleSteps, int((settle+c.Step-1)/c.Step)),
	}
}

// holds takes a demand and says whether it is held at capacity. A step without a demand changes nothing.
func (p *plateau) holds(v float64) bool {
	if !(p.low > 0) || v < p.low || v > p.high {
		p.run = 0
		return false
	}
	p.run = min(p.run+1, p.settled)
	return p.run == p.settled
}
