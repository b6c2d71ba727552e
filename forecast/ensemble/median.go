package ensemble

import "math"

// newMedian is a member that forecasts the median of the others, of equal weight: where the errors of the replay cannot
// tell the members apart it errs less than any mean of them, as one that goes astray has no say (Petropoulos & Svetunkov
// 2020). It is weighed by its own errors like each of them.
func newMedian(horizon int) *member {
	return &member{candidate: candidate{title: "Median"}, median: true, path: make([]float64, horizon)}
}

// updateMedian takes the others' paths.
func (c *Combination) updateMedian() {
	last := len(c.members) - 1
	if !c.members[last].median {
		return
	}
	for i, m := range c.members[:last] {
		c.others[i] = m.path
	}
	medians(c.members[last].path, c.others[:last])
}

// medians writes the median of the paths at each step to dst, NaN where there is none.
func medians(dst []float64, paths [][]float64) {
	var values [mostCandidates]float64
	for i := range dst {
		n := 0
		for _, path := range paths {
			v := path[i]
			if math.IsNaN(v) {
				continue
			}
			at := n
			for ; at > 0 && values[at-1] > v; at-- {
				values[at] = values[at-1]
			}
			values[at] = v
			n++
		}
		dst[i] = math.NaN()
		if n > 0 {
			dst[i] = values[(n-1)/2]/2 + values[n/2]/2
		}
	}
}

// fewestOfMedian is of how many members a median is taken.
const fewestOfMedian = 3

// mostCandidates is more than there are in any plan.
const mostCandidates = 64
