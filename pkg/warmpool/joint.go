package warmpool

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/decide"
)

// together adds what the sound members want together to the quantiles over the two windows, and says whether that is known
// from their common past.
//
// The pool is shared, so what counts is the quantile of the sum of the members' demand at its highest, not the sum of the
// quantiles, which is right only where all peak at once. The forecasts give each member's own distribution F; how they move
// together is taken from the recent past, as the Schaake shuffle does (Clark and others 2004; Schefzik, Thorarinsdottir
// and Gneiting 2013), which is the empirical copula of the past. For every moment j of it:
//
//	rise  = the member's maximum over the window after j, less its demand at j
//	u     = the rank of that rise among the moments, in (0, 1)
//	r     = the highest sum within the window over the sum of the members' highest: below 1 where they peaked apart
//	S     = the sum over the members of chunks · (⌈r·F⁻¹(u) / target⌉ − the replicas it has), 0 where that is negative
//
// and the quantile is that of the S, nothing drawn at random. Sums of heavy tails may have a quantile above the sum of the
// quantiles; the pool holds no more than the latter.
//
// Worked: two members of the same size, each 10 replicas now and 14 at its 0.95 quantile, 11 at the median. If they rose
// together all day, S at its 0.95 quantile is 28, and 8 chunks are wanted; if one rose whenever the other fell, the high
// ranks of one meet the low ones of the other, and S is about 10 + 14: 4 chunks.
//
// Members whose past is too short to be coupled, and all where there is too little of it in common, are taken to peak
// together: the safe assumption.
func together(p Pool, sound []*asker, pod, node *quantiles) bool {
	var coupled []*asker
	c := couple(sound, Window(p.Pod), Window(p.Pod+p.Node))
	for i, a := range sound {
		if c != nil && c.past[i] != nil {
			coupled = append(coupled, a)
			continue
		}
		pod.addApart(a, &a.pod, p.Quantile)
		node.addApart(a, &a.node, p.Quantile)
	}
	if c != nil {
		c.sum(coupled, 0, p.Quantile, pod)
		c.sum(coupled, 1, p.Quantile, node)
	}
	return c != nil || len(sound) < 2
}

// addApart takes a member that peaks with all others.
func (q *quantiles) addApart(a *asker, own *decide.Quantiles, level float64) {
	high := a.beyond(own.At(level))
	q.high += high
	q.apart += high
	q.median += a.beyond(own.At(0.5))
}

// copula is how members moved together at the moments of their common past.
type copula struct {
	// past are the members' demands on the common grid, nil for a member that is not coupled.
	past [][]float64
	// moments are the indices of the grid after which every coupled member is known for the longer window.
	moments []int
	// ranks are those of the coupled members' rises at the moments, member by member.
	ranks []uint16
	// apart is r, for the pod's window and the node's, at the moments.
	apart [2][]float64
}

const (
	// enough is how many windows that do not overlap, and fewest how many moments, tell how members move together.
	enough, fewest = 20, 72
	// shortestShare is how much of the longest past a member must have to be coupled.
	shortestShare = 0.75
)

// couple is nil where there is nothing to couple, or too little of a common past.
func couple(sound []*asker, pod, node time.Duration) *copula {
	if len(sound) < 2 {
		return nil
	}
	g := gridOf(sound)
	if g.step <= 0 {
		return nil
	}
	c := &copula{past: g.align(sound)}
	steps := [2]int{g.steps(pod), g.steps(node)}
	c.find(steps[1])
	if n := len(c.moments); n < fewest || n < enough*steps[1] {
		return nil
	}
	c.rank(steps[1])
	for i, n := range steps {
		c.apart[i] = c.peaks(sound, n)
	}
	return c
}

// find makes the list of the moments.
func (c *copula) find(steps int) {
	n := 0
	for _, past := range c.past {
		n = max(n, len(past))
	}
	c.moments = make([]int, 0, n)
	known := 0
	for j := range n {
		known++
		for _, past := range c.past {
			if past != nil && math.IsNaN(past[j]) {
				known = 0
				break
			}
		}
		if known > steps {
			c.moments = append(c.moments, j-steps)
		}
	}
}

// rank fills in the ranks. Rises that are equal are ranked by time, for all members alike.
func (c *copula) rank(steps int) {
	n := len(c.moments)
	c.ranks = make([]uint16, 0, n*len(c.past))
	keys := make([]uint64, n)
	for _, past := range c.past {
		if past == nil {
			continue
		}
		for k, j := range c.moments {
			keys[k] = ordered(slices.Max(past[j+1:j+1+steps])-past[j])<<16 | uint64(k)
		}
		slices.Sort(keys)
		at := len(c.ranks)
		c.ranks = c.ranks[:at+n]
		for r, key := range keys {
			c.ranks[at+int(key&math.MaxUint16)] = uint16(r)
		}
	}
}

// ordered is a number as bits that compare as the numbers do, in single precision.
func ordered(x float64) uint64 {
	bits := math.Float32bits(float32(x))
	if bits>>31 == 1 {
		return uint64(^bits)
	}
	return uint64(bits | 1<<31)
}

// peaks is r at the moments, for a window of so many steps. Demands are added up in chunks.
func (c *copula) peaks(sound []*asker, steps int) []float64 {
	var grid int
	for _, past := range c.past {
		grid = max(grid, len(past))
	}
	sum := make([]float64, grid)
	out := make([]float64, len(c.moments))
	for i, past := range c.past {
		if past == nil {
			continue
		}
		weight := sound[i].chunks / sound[i].target
		for j, v := range past {
			sum[j] += weight * v
		}
		for k, j := range c.moments {
			out[k] += weight * slices.Max(past[j+1:j+1+steps])
		}
	}
	for k, j := range c.moments {
		if out[k] > 0 {
			out[k] = min(1, slices.Max(sum[j+1:j+1+steps])/out[k])
		} else {
			out[k] = 1
		}
	}
	return out
}
