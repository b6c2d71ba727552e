package compare

import (
	"cmp"
	"slices"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// targetResult is the report under a target in milli-units.
type targetResult struct {
	target int64
	report simulate.Report
}

// sweep has the results of a policy's values under every target, and those under the best one in full; none of a model that could
// not be fitted.
type sweep struct {
	all  []targetResult
	best *PolicyResult
}

// targets are the shares of a replica's capacity from 20 % to 110 %, in milli-units, and the one that is written.
func (p *plan) targets() []int64 {
	out := []int64{p.target()}
	for mille := 200; mille <= 1100; mille += 25 {
		out = append(out, p.targetOfShare(float64(mille)/1000))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sweep plays values under every target, and the best of them again, in full.
func (p *plan) sweep(name string, values []float64, spent func(units int)) (*sweep, error) {
	s := &sweep{}
	var points []Point
	for _, target := range p.targets() {
		report, err := p.run(values, target)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, targetResult{target, report})
		points = append(points, p.pointOf(inUnits(target), &report))
		spent(1)
	}
	var err error
	if s.best, err = p.play(name, values, p.cheapestTarget(s.all).target); err != nil {
		return nil, err
	}
	s.best.Hindsight, s.best.Frontier = true, paretoFront(points)
	return s, nil
}

// cheapestTarget is the cheapest target that meets an objective or, where none does, the least late. Of targets alike it is the
// larger one.
func (c *Config) cheapestTarget(all []targetResult) targetResult {
	// What meets the objective is alike in its lateness.
	lateness := func(t *targetResult) float64 { return max(t.report.WorstShare(c.BadHours), c.Objective) }
	best := all[0]
	for _, t := range all[1:] {
		if cmp.Or(cmp.Compare(lateness(&t), lateness(&best)),
			cmp.Compare(t.report.ReplicaHours, best.report.ReplicaHours)) <= 0 {
			best = t
		}
	}
	return best
}

func (c *Config) pointOf(setting float64, r *simulate.Report) Point {
	return Point{Setting: setting, Late: r.WorstShare(c.BadHours), RelativeCost: r.RelativeCost()}
}

// paretoFront returns the points that are not both later and more expensive than another, from the least late to the
// cheapest.
func paretoFront(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Late, b.Late), cmp.Compare(a.RelativeCost, b.RelativeCost),
			cmp.Compare(a.Setting, b.Setting))
	})
	var out []Point
	for _, p := range points {
		if len(out) == 0 || p.RelativeCost < out[len(out)-1].RelativeCost {
			out = append(out, p)
		}
	}
	return out
}

// otherObjectives are the objectives that Forewarm's frontier is drawn with, in addition to the configured one. Nil if only
// some policies are played.
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
