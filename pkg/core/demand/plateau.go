package demand

import "time"

const (
	// plateauBand is how far from the capacity a plateau may lie, as a share of it: the capacity is a configured round
	// number, and measurements vary.
	plateauBand = 0.05
	// plateauTime is how long, and plateauSteps how many samples, the demand must have been in the band: a demand that
	// only passes through it is not limited there.
	plateauTime  = 2 * time.Minute
	plateauSteps = 4
)

// plateau detects a demand that stays at capacity: the replicas limit it, and what they cannot serve is not observed. A
// demand that lies there by chance counts as its own lower bound. That costs little: it is served as observed, and no
// autoscaler can use more.
//
// Worked: with 20 replicas of 50 requests/s and steps of 30 s, of 990, 1010, 985, 1000, 1020 the first three are known,
// and 1000 and 1020 are censored.
type plateau struct {
	low, high float64
	enough    int
	run       int
}

func newPlateau(step time.Duration, capacity float64) plateau {
	return plateau{
		low: (1 - plateauBand) * capacity, high: (1 + plateauBand) * capacity,
		enough: max(plateauSteps, int((plateauTime+step-1)/step)),
	}
}

// add adds a demand and reports whether it stays at capacity. A step without a demand changes nothing.
func (p *plateau) add(v float64) bool {
	if !(p.low > 0) || v < p.low || v > p.high {
		p.run = 0
		return false
	}
	p.run = min(p.run+1, p.enough)
	return p.run == p.enough
}
