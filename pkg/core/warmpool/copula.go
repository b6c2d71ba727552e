package warmpool

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// copula describes how the demands of members moved together at the moments of their common past.
type copula struct {
	// past are the members' demands on the common grid. It is nil for a member that is not coupled.
	past [][]float64
	// moments are the grid indices after which every coupled member is known for the longer window.
	moments []int
	// ranks are the ranks of the coupled members' rises at the moments, member by member.
	ranks []uint16
	// apart is r (see addJoint) at the moments, for each of the two windows.
	apart [2][]float64
}

const (
	// minWindows is the number of non-overlapping windows, and minMoments the number of moments, that are needed to estimate how members
	// move together.
	minWindows, minMoments = 20, 60
	// maxMoments is the maximum number of moments. More are not needed, because neighboring moments are nearly the same.
	maxMoments = 144
	// minPastShare is the share of the longest past that a member needs to be coupled.
	minPastShare = 0.75
)

// couple returns the copula of the members; nil if there is nothing to couple or too little common past.
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

// key is the rise at a moment, as bits that sort like the numbers.
type key struct {
	bits   uint32
	moment uint16
}

// ordered returns a number, in single precision, as bits that sort like the numbers.
func ordered(x float64) uint32 {
	bits := math.Float32bits(float32(x))
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// byBits sorts keys with a stable radix sort. Here it is three times as fast as a sort by comparison, and ranks are most of a plan's cost.
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

// peaks returns r at the moments, for a window of the given number of steps. Demands are summed in chunks.
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

// addJoint adds what the reliable members need together to the quantiles for the two windows, and reports whether it used their common
// past.
//
// The pool is shared, so it needs the quantile of the maximum of the summed demand. The sum of the members' quantiles is right only if all
// members peak at the same time. The forecasts give each member's own distribution F. The Schaake shuffle (Clark and others 2004; Schefzik,
// Thorarinsdottir and Gneiting 2013), which is the empirical copula of the past, adds how the members moved together recently. For every
// moment j of the past:
//
//	rise  = the member's maximum over the window after j, minus its demand at j
//	u     = the rank of that rise among the moments, in (0, 1)
//	r     = the highest sum within the window, divided by the sum of the members' maxima; below 1 if they peaked apart
//	S     = the sum over the members of chunks · (⌈r·F⁻¹(u) / target⌉ − the replicas it has), 0 if that is negative
//
// The result is the quantile of the values of S, without random draws. With heavy tails, the quantile of the sum may be above the sum of
// the quantiles. The pool then holds the sum of the quantiles.
//
// Example: two equal members have 10 replicas of one chunk each now. They need 14 at the 0.95 quantile and 11 at the median. If they rose
// together all day, they need 28 chunks together at the 0.95 quantile, so the 0.95 quantile of S is 8 chunks. If one rose whenever the
// other fell, high ranks of one are combined with low ranks of the other. They then need about 10 + 14 chunks together, so the quantile of
// S is 4 chunks.
//
// This was measured on twenty simulated worlds, with exact distributions and a thousand futures for each present. On average, the result
// differs by 3 % from the true 0.95 quantile. The sum of the quantiles differs by 17 %. Under the assumption that members are independent,
// the result differs by 9 %, and is up to 14 % too low if members have something in common. On recorded demand, 97 to 98 % of the windows
// are covered with 13 % less than the sum of the quantiles.
//
// Members with too short a past are assumed to peak at the same time as all others, which is the safe assumption. If there is not enough
// common past, this is assumed for all members.
func addJoint(p Pool, sound []*plannedMember, pod, node *quantiles) bool {
	var coupled []*plannedMember
	c := couple(sound, leadtime.Window(p.Pod), leadtime.Window(p.Pod+p.Node))
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

// addApart adds a member that is assumed to peak at the same time as all others.
func (q *quantiles) addApart(a *plannedMember, own *windowpeak.Quantiles, level float64) {
	high := a.beyond(own.At(level))
	q.high += high
	q.apart += high
	q.median += a.beyond(own.At(0.5))
}

// sum adds the quantiles of the coupled members' sum over the window of a pod (0) or of a pod and a node (1).
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

// gather adds to sums what a member needs at each moment, beyond what it has.
func (a *plannedMember) gather(sums, own []float64, ranks []uint16, apart []float64) {
	least, most, chunks := max(a.minReplicas, a.have), max(a.maxReplicas, a.have), a.chunks
	for k, rank := range ranks {
		// The same as beyond, but faster. A plan computes this a hundred thousand times.
		replicas := min(max(math.Ceil(own[rank]*apart[k]-grain), least), most)
		sums[k] += chunks * (replicas - a.have)
	}
}

// quantileIndex returns the index of a quantile among n sorted values: the smallest value such that at least this share of the values is at
// or below it.
func quantileIndex(level float64, n int) int {
	return min(max(int(math.Ceil(level*float64(n)-grain))-1, 0), n-1)
}

// levelPosition is the position of a probability between the levels of windowpeak.Quantiles.
type levelPosition struct {
	below int
	share float64
}

// levelPositions returns the positions of (r + ½)/n, the probabilities of n ranks.
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

// maxCells is the maximum size of the common grid: a day of 5-minute cells.
const maxCells = 288

// grid is the common grid of the members' recent demand. Its step is the coarsest step of the members, and it ends at the newest of their
// ends.
type grid struct {
	step  time.Duration
	start time.Time
	n     int
}

func gridOf(sound []*plannedMember) grid {
	var g grid
	var end time.Time
	for _, a := range sound {
		recent := &a.Outlook.Recent
		if recent.Step <= 0 || len(recent.Values) == 0 {
			continue
		}
		g.step = max(g.step, recent.Step)
		g.n = max(g.n, len(recent.Values))
		if last := recent.End(); last.After(end) {
			end = last
		}
	}
	g.n = min(g.n, maxCells)
	g.start = end.Add(-time.Duration(g.n) * g.step)
	return g
}

// steps returns the number of steps in a window, at least one.
func (g grid) steps(window time.Duration) int {
	return int(max(1, min((window+g.step-1)/g.step, maxCells)))
}

// align returns the members' pasts on the grid; nil for pasts that are too short compared with the longest one. It uses a series on the
// grid as it is. For other series, it uses the mean within each cell.
func (g grid) align(sound []*plannedMember) [][]float64 {
	out := make([][]float64, len(sound))
	known := make([]int, len(sound))
	longest := 0
	for i, a := range sound {
		out[i] = g.values(a.Outlook.Recent)
		for _, v := range out[i] {
			if !math.IsNaN(v) {
				known[i]++
			}
		}
		longest = max(longest, known[i])
	}
	for i := range out {
		if known[i] == 0 || float64(known[i]) < minPastShare*float64(longest) {
			out[i] = nil
		}
	}
	return out
}

func (g grid) values(s forecast.Series) []float64 {
	if s.Step <= 0 || len(s.Values) == 0 {
		return nil
	}
	if ahead := g.start.Sub(s.Start); s.Step == g.step && ahead >= 0 && ahead%g.step == 0 {
		if first := int(ahead / g.step); first+g.n == len(s.Values) && allDemand(s.Values[first:]) {
			return s.Values[first:]
		}
	}
	sums, counts := make([]float64, g.n), make([]int, g.n)
	for i, v := range s.Values {
		since := s.TimeAt(i).Sub(g.start)
		if cell := int(since / g.step); since >= 0 && cell < g.n && isDemand(v) {
			sums[cell] += v
			counts[cell]++
		}
	}
	for i, n := range counts {
		sums[i] /= float64(n) // NaN if the cell has no value.
	}
	return sums
}

// isDemand reports whether a value is plausible as a demand.
func isDemand(v float64) bool { return v >= 0 && v <= maxDemand }

// allDemand reports whether all values are plausible as demand, or are gaps.
func allDemand(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !isDemand(v) && !math.IsNaN(v) })
}
