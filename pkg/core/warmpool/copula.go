package warmpool

import (
	"math"
	"slices"
	"time"
)

// copula describes how members moved together at the moments of their common past.
type copula struct {
	// past are the members' demands on the common grid; nil for a member that is not coupled.
	past [][]float64
	// moments are the grid indices after which every coupled member is known for the longer window.
	moments []int
	// ranks of the coupled members' rises at the moments, member by member.
	ranks []uint16
	// apart is r of the two windows at the moments.
	apart [2][]float64
}

const (
	// minWindows is how many non-overlapping windows, and minMoments how many moments, are needed to estimate how
	// members move together.
	minWindows, minMoments = 20, 60
	// maxMoments is how many moments are used at most: neighbours are nearly the same.
	maxMoments = 144
	// minPastShare is how much of the longest past a member needs to be coupled.
	minPastShare = 0.75
)

// couple returns nil where there is nothing to couple, or too little common past.
func couple(sound []*plannedMember, pod, node time.Duration) *copula {
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
	if n := len(c.moments); n < minMoments || c.moments[n-1]-c.moments[0] < minWindows*steps[1] {
		return nil
	}
	c.rank(steps[1])
	for i, n := range steps {
		c.apart[i] = c.peaks(sound, n)
	}
	return c
}

// find lists the moments, evenly spaced.
func (c *copula) find(steps int) {
	n := 0
	for _, past := range c.past {
		n = max(n, len(past))
	}
	c.moments = make([]int, 0, n)
	known, apart := 0, (n+maxMoments-1)/maxMoments
	for j := range n {
		known++
		for _, past := range c.past {
			if len(past) > j && math.IsNaN(past[j]) {
				known = 0
				break
			}
		}
		if known > steps && j%apart == 0 {
			c.moments = append(c.moments, j-steps)
		}
	}
}

// rank computes the ranks. Equal rises are ranked by time, the same way for all members.
func (c *copula) rank(steps int) {
	n := len(c.moments)
	c.ranks = make([]uint16, 0, n*len(c.past))
	keys, spare := make([]key, n), make([]key, n)
	for _, past := range c.past {
		if past == nil {
			continue
		}
		for k, j := range c.moments {
			keys[k] = key{bits: ordered(slices.Max(past[j+1:j+1+steps]) - past[j]), moment: uint16(k)}
		}
		sorted := byBits(keys, spare)
		at := len(c.ranks)
		c.ranks = c.ranks[:at+n]
		for r, k := range sorted {
			c.ranks[at+int(k.moment)] = uint16(r)
		}
	}
}

// key is the rise at a moment, as bits in the order of the numbers.
type key struct {
	bits   uint32
	moment uint16
}

// ordered returns a number in single precision as bits in the order of the numbers.
func ordered(x float64) uint32 {
	bits := math.Float32bits(float32(x))
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// byBits sorts keys stably by a radix sort: three times as fast here as comparing, and ranks are most of a plan's cost.
// It uses both slices and returns the sorted one.
func byBits(keys, spare []key) []key {
	for shift := 0; shift < 32; shift += 8 {
		var from [256]uint16
		for _, k := range keys {
			from[k.bits>>shift&0xff]++
		}
		at := uint16(0)
		for i, n := range from {
			from[i], at = at, at+n
		}
		for _, k := range keys {
			digit := k.bits >> shift & 0xff
			spare[from[digit]] = k
			from[digit]++
		}
		keys, spare = spare, keys
	}
	return keys
}

// peaks returns r at the moments, for a window of so many steps. Demands are summed in chunks.
func (c *copula) peaks(sound []*plannedMember, steps int) []float64 {
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
