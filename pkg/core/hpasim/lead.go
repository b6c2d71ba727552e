package hpasim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Lead is how long a pod, or a node, takes from being asked for until it is there.
type Lead interface {
	// Draw is the lead time of one of them. It takes what is random from the source alone.
	Draw(random *rand.Rand) time.Duration
	// Longest bounds what Draw returns.
	Longest() time.Duration
}

// Constant is a lead time that never varies.
type Constant time.Duration

// Draw is the lead time.
func (c Constant) Draw(*rand.Rand) time.Duration { return time.Duration(c) }

// Longest is the lead time.
func (c Constant) Longest() time.Duration { return time.Duration(c) }

// LogNormal is a lead time whose logarithm is Gaussian: always above 0, now and then much longer than usual.
type LogNormal struct {
	// Mean of the lead time, more than 0.
	Mean time.Duration
	// Sigma is the standard deviation of the logarithm: 0.3 lets a tenth of the starts take 1.4 times the mean and more.
	Sigma float64
}

// longestLogNormal cuts the tail, in means.
const longestLogNormal = 6

// Draw is a lead time of at most six times the mean.
func (l LogNormal) Draw(random *rand.Rand) time.Duration {
	factor := math.Exp(l.Sigma*random.NormFloat64() - l.Sigma*l.Sigma/2)
	return time.Duration(min(factor, longestLogNormal) * float64(l.Mean))
}

// Longest is six times the mean.
func (l LogNormal) Longest() time.Duration { return longestLogNormal * l.Mean }

// Empirical holds lead times that were measured. Each is as likely as any other.
type Empirical []time.Duration

// Draw is one of them.
func (e Empirical) Draw(random *rand.Rand) time.Duration { return e[random.IntN(len(e))] }

// Longest is the longest of them, 0 where there is none.
func (e Empirical) Longest() time.Duration {
	if len(e) == 0 {
		return 0
	}
	return slices.Max(e)
}
