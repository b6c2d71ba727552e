package warmpool

import (
	"math"
	"slices"
	"time"
)

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
	enough, fewest = 20, 60
	// densest is how many moments are looked at, at most: neighbours say nearly the same.
	densest = 144
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
	if n := len(c.moments); n < fewest || c.moments[n-1]-c.moments[0] < enough*steps[1] {
		return nil
	}
	c.rank(steps[1])
	for i, n := range steps {
		c.apart[i] = c.peaks(sound, n)
	}
	return c
}

// find makes the list of the moments, evenly spaced.
func (c *copula) find(steps int) {
	n := 0
	for _, past := range c.past {
		n = max(n, len(past))
	}
	c.moments = make([]int, 0, n)
	known, apart := 0, (n+densest-1)/densest
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

// rank fills in the ranks. Rises that are equal are ranked by time, for all members alike.
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

// key is the rise at a moment, as bits that compare as the numbers do.
type key struct {
	bits   uint32
	moment uint16
}

// ordered is a number as bits that compare as the numbers do, in single precision.
func ordered(x float64) uint32 {
	bits := math.Float32bits(float32(x))
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// byBits sorts keys, stably, by counting the values of one byte after another from the least: three times as fast here as
// comparing, and ranks are most of what a plan costs. It uses both slices, and returns the one that is sorted.
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
