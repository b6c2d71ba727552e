package ensemble

import (
	"cmp"
	"slices"
)

// fewestMembers and mostScored say how many members live on after the hold-out: those that are nearly alike gain little
// from each other, and each costs time at every update and memory between them, for every horizon that is scored. At 48
// horizons that is eight: with six the mean absolute scaled error is the same on M4 Hourly, and 1 to 3 % higher on three
// traces, 48 and 60 steps ahead. At the four horizons of an autoscaler all of them are affordable.
const (
	fewestMembers = 8
	mostScored    = 48 * fewestMembers
)

// choose keeps the members that weighed most in the replay, over all anchors, and the last value; the others are listed
// as outdone. Their turn comes again at the next fit.
func (c *Combination) choose() {
	ranks := make([]int, len(c.members))
	for k := range ranks {
		ranks[k] = k
	}
	slices.SortStableFunc(ranks[1:], func(a, b int) int { return cmp.Compare(c.totalWeight(b), c.totalWeight(a)) })
	keep := ranks[:min(max(fewestMembers, mostScored/len(c.anchors)), len(ranks))]
	slices.Sort(keep)
	for k, m := range c.members {
		if !slices.Contains(keep, k) {
			c.outdone = append(c.outdone, c.candidateReason(k, m))
		}
	}
	c.members = chosen(c.members, keep)
	for j := range c.anchors {
		c.losses[j] = chosen(c.losses[j], keep)
		c.weights[j] = make([]float64, len(keep))
		c.pending[j] = chosenOf(c.pending[j], keep, len(ranks))
	}
	c.judged = make([]record, len(keep))
	c.weigh()
}

// totalWeight is the weight of member k over all anchors.
func (c *Combination) totalWeight(k int) float64 {
	sum := 0.0
	for j := range c.anchors {
		sum += c.weights[j][k]
	}
	return sum
}

// chosen are the items at some indices.
func chosen[T any](items []T, indices []int) []T {
	out := make([]T, len(indices))
	for i, k := range indices {
		out[i] = items[k]
	}
	return out
}

// chosenOf is chosen in each row of a table.
func chosenOf(rows []float64, indices []int, width int) []float64 {
	var out []float64
	for at := 0; at < len(rows); at += width {
		out = append(out, chosen(rows[at:at+width], indices)...)
	}
	return out
}
