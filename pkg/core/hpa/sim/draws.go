package sim

import (
	"math/rand/v2"
	"time"
)

// draws are the random numbers of a workload. Each start has its own, by the time at which it begins and by its number among the
// starts of that time. So a simulation that begins later draws the same for the same start.
type draws struct {
	seed        uint64
	start, step time.Duration // of the first step, since the epoch; of a step
	at, count   int           // the newest step with a start, and its starts
	source      rand.PCG
}

func newDraws(k *settings) *draws {
	return &draws{seed: k.seed, start: time.Duration(k.start.UnixNano()), step: k.step}
}

// next draws a lead time for the next start of a step.
func (d *draws) next(lead LeadTime, step int) time.Duration {
	return lead.draw(d.another(step))
}

// exponential draws from the exponential distribution of mean 1 at a step.
func (d *draws) exponential(step int) float64 { return d.another(step).ExpFloat64() }

// another is the source of one more number of a step.
func (d *draws) another(step int) *rand.Rand {
	if step != d.at {
		d.at, d.count = step, 0
	}
	d.count++
	begins := uint64(d.start + time.Duration(step)*d.step) //nolint:gosec // To be hashed.
	d.source.Seed(mixed(d.seed^mixed(begins)), mixed(uint64(d.count)))
	return rand.New(&d.source) //nolint:gosec // A simulation must repeat itself.
}

// mixed is a hash of a number: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
