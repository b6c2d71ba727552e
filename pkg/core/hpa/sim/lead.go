package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// LeadTime is the time from requesting a pod or a node until it is ready.
type LeadTime interface {
	// draw returns one lead time. The source is its only randomness.
	draw(random *rand.Rand) time.Duration
	// longest is the longest that draw returns.
	longest() time.Duration
}

// Constant is a lead time that never varies.
type Constant time.Duration

// draw returns the lead time.
func (c Constant) draw(*rand.Rand) time.Duration { return time.Duration(c) }

// longest returns the lead time.
func (c Constant) longest() time.Duration { return time.Duration(c) }

// LogNormal is a lead time with a Gaussian logarithm: always above 0, occasionally much longer than usual.
type LogNormal struct {
	// Mean of the lead time, more than 0.
	Mean time.Duration
	// Sigma is the standard deviation of the logarithm: with 0.3, a tenth of the starts take at least 1.4 times the
	// mean.
	Sigma float64
}

// longestLogNormal truncates the tail, as a multiple of the mean.
const longestLogNormal = 6

// draw returns a lead time of at most six times the mean.
func (l LogNormal) draw(random *rand.Rand) time.Duration {
	factor := math.Exp(l.Sigma*random.NormFloat64() - l.Sigma*l.Sigma/2)
	return time.Duration(min(factor, longestLogNormal) * float64(l.Mean))
}

// longest returns six times the mean.
func (l LogNormal) longest() time.Duration { return longestLogNormal * l.Mean }

// normal90 is the 0.9 quantile of a standard Gaussian.
const normal90 = 1.2815515655446004

// Starts are the lead times of pods with a median and a 0.9 quantile: log-normal, as they are skewed to the right. They are
// constant without a median, and where the quantile is no longer.
func Starts(median, p90 time.Duration) LeadTime { //nolint:ireturn // What a Spec holds.
	if median <= 0 || p90 <= median {
		return Constant(max(median, p90))
	}
	sigma := math.Log(p90.Seconds()/median.Seconds()) / normal90
	return LogNormal{Mean: time.Duration(float64(median) * math.Exp(sigma*sigma/2)), Sigma: sigma}
}

// Empirical holds measured lead times, each equally likely.
type Empirical []time.Duration

// draw returns one of them.
func (e Empirical) draw(random *rand.Rand) time.Duration { return e[random.IntN(len(e))] }

// longest returns the longest of them, 0 without any.
func (e Empirical) longest() time.Duration {
	if len(e) == 0 {
		return 0
	}
	return slices.Max(e)
}

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

// schedule holds the pods or nodes that become ready at later steps.
type schedule struct {
	// coming ascend in time: few steps have any.
	coming []coming
	total  int
}

// coming become ready at a step.
type coming struct{ step, n int32 }

// add schedules n more for a step.
func (a *schedule) add(step, n int) {
	if n == 0 {
		return
	}
	one := coming{int32(step), int32(n)} //nolint:gosec // No simulation and no HPA has so many.
	at := len(a.coming)
	for at > 0 && a.coming[at-1].step > one.step {
		at--
	}
	if at > 0 && a.coming[at-1].step == one.step {
		a.coming[at-1].n += one.n
	} else {
		a.coming = slices.Insert(a.coming, at, one)
	}
	a.total += n
}

// take removes and returns what becomes ready at a step. Steps are taken in order.
func (a *schedule) take(step int) int {
	if a.total == 0 || int(a.coming[0].step) > step {
		return 0
	}
	n := int(a.coming[0].n)
	a.coming = slices.Delete(a.coming, 0, 1)
	a.total -= n
	return n
}

// at is what becomes ready at a step.
func (a *schedule) at(step int) int {
	for _, one := range a.coming {
		if int(one.step) == step {
			return int(one.n)
		}
	}
	return 0
}

// cancel removes up to n of what becomes ready, the latest first, and returns their number.
func (a *schedule) cancel(n int) int {
	cancelled := min(n, a.total)
	for left := cancelled; left > 0; {
		last := &a.coming[len(a.coming)-1]
		some := min(left, int(last.n))
		if last.n -= int32(some); last.n == 0 { //nolint:gosec // Part of what comes.
			a.coming = a.coming[:len(a.coming)-1]
		}
		left -= some
	}
	a.total -= cancelled
	return cancelled
}
