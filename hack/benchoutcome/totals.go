package main

import (
	"cmp"
	"math"
	"slices"
)

// point is a lateness and its cost.
type point struct{ late, cost float64 }

// costAt returns the lowest cost at a lateness, linear between two settings. It is NaN if every setting is later.
func costAt(points []point, late float64) float64 {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.late, b.late), cmp.Compare(a.cost, b.cost))
	})
	if len(sorted) == 0 || sorted[0].late > late {
		return math.NaN()
	}
	cheapest := math.Inf(1)
	before := point{}
	for _, p := range sorted {
		cheapest = min(cheapest, p.cost)
		if p.late > late {
			share := (late - before.late) / (p.late - before.late)
			return before.cost + share*(cheapest-before.cost)
		}
		before = point{p.late, cheapest}
	}
	return before.cost
}

// familyWeights returns weights with which all families have the same total, and all members of a family have the same weight.
func familyWeights(families []string) []float64 {
	members := map[string]int{}
	for _, f := range families {
		members[f]++
	}
	out := make([]float64, len(families))
	for i, f := range families {
		out[i] = 1 / float64(len(members)*members[f])
	}
	return out
}

// familiesOf returns the families of traces, in the order of the traces.
func familiesOf(traces []recorded) []string {
	var out []string
	for _, r := range traces {
		if !slices.Contains(out, r.family) {
			out = append(out, r.family)
		}
	}
	return out
}
