package compare

import (
	"cmp"
	"slices"
)

// front are the points of which none is both later and dearer than another, from the least late to the cheapest.
func front(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Late, b.Late), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Setting, b.Setting))
	})
	var out []Point
	for _, p := range points {
		if len(out) == 0 || p.Cost < out[len(out)-1].Cost {
			out = append(out, p)
		}
	}
	return out
}

// otherObjectives are those that forewarm's frontier is drawn with, beside the one that was asked for: where all policies are
// played.
func (p *plan) otherObjectives() []float64 {
	const most = 0.5
	var out []float64
	if p.Only != nil {
		return nil
	}
	for _, times := range []float64{0.1, 0.25, 0.5, 2, 4} {
		if objective := p.Objective * times; objective <= most {
			out = append(out, objective)
		}
	}
	return out
}
