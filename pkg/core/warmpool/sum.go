package warmpool

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// sum adds the quantiles of the coupled members' sum over the pod's window (0) or the node's (1).
func (c *copula) sum(coupled []*plannedMember, window int, level float64, to *quantiles) {
	n := len(c.moments)
	sums, own := make([]float64, n), make([]float64, n)
	places := levelPositions(n)
	var apart float64
	for i, a := range coupled {
		q := [2]*windowpeak.Quantiles{&a.pod, &a.node}[window]
		apart += a.beyond(q.At(level))
		for r, at := range places {
			own[r] = (q[at.below] + at.share*(q[at.below+1]-q[at.below])) / a.target
		}
		a.gather(sums, own, c.ranks[i*n:(i+1)*n], c.apart[window])
	}
	slices.Sort(sums)
	to.apart += apart
	to.high += min(apart, sums[quantileIndex(level, n)])
	to.median += min(apart, sums[quantileIndex(0.5, n)])
}

// gather adds what a member needs beyond what it has at each moment.
func (a *plannedMember) gather(sums, own []float64, ranks []uint16, apart []float64) {
	least, most, chunks := max(a.minReplicas, a.have), max(a.maxReplicas, a.have), a.chunks
	for k, rank := range ranks {
		// The same as beyond, written for speed: a plan computes a hundred thousand of these.
		replicas := min(max(math.Ceil(own[rank]*apart[k]-grain), least), most)
		sums[k] += chunks * (replicas - a.have)
	}
}

// quantileIndex returns the index of a quantile among n sorted values: the smallest with at least that share at or
// below it.
func quantileIndex(level float64, n int) int {
	return min(max(int(math.Ceil(level*float64(n)-grain))-1, 0), n-1)
}

// levelPosition is the position of a probability between the levels of windowpeak.Quantiles.
type levelPosition struct {
	below int
	share float64
}

// levelPositions returns those of (r + ½)/n, the probabilities of n ranks.
func levelPositions(n int) []levelPosition {
	levels := windowpeak.QuantileLevels()
	out := make([]levelPosition, n)
	below := 0
	for r := range out {
		p := min(max((float64(r)+0.5)/float64(n), windowpeak.LowestQuantile), windowpeak.HighestQuantile)
		for below+2 < len(levels) && p > levels[below+1] {
			below++
		}
		out[r] = levelPosition{below: below, share: (p - levels[below]) / (levels[below+1] - levels[below])}
	}
	return out
}
