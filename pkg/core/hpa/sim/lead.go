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
