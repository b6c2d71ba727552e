package demand

import "time"

const (
	// plateauBand is how far from the capacity a plateau may be, as a share of the capacity. The capacity is a configured round number, and
	// measurements vary.
	plateauBand = 0.05
	// plateauTime is how long the demand must have been in the band, and plateauSteps is the minimum number of samples. A demand that only
	// passes through the band is not limited by the capacity.
	plateauTime  = 2 * time.Minute
	plateauSteps = 4
)

// plateau detects a demand that stays at capacity: the replicas limit it, and the demand that they cannot serve is not observed. A demand
// that is at capacity by chance is treated as a lower bound, too. This costs little, because it is served as observed and no autoscaler can
// add more replicas.
//
// Example, with 20 replicas of 50 requests/s each and steps of 30 s: if the demand is 990, 1010, 985, 1000, 1020, the first three samples
// are known, and the last two are censored.
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
