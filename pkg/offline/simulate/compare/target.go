package compare

import (
	"cmp"
	"slices"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// targetResult is the report under a target in thousandths.
type targetResult struct {
	target int64
	report simulate.Report
}

// sweep has the results of a policy under every target, and the full result under the best one. It is empty for a model that could not be
// fitted.
type sweep struct {
	all  []targetResult
	best *PolicyResult
}

// targets returns the targets for shares of 20 % to 110 % of a replica's capacity, in thousandths, and the configured target.
func (p *plan) targets() []int64 {
	out := []int64{p.target()}
	for mille := 200; mille <= 1100; mille += 25 {
		out = append(out, p.targetOfShare(float64(mille)/1000))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sweep simulates values under every target, and then again in full under the best one.
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

// cheapestTarget returns the cheapest target that meets an objective. If none does, it returns the one with the least lateness. Of equally
// good targets, it returns the largest.
func (c *Config) cheapestTarget(all []targetResult) targetResult {
	// All targets that meet the objective count as equally late.
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

// paretoFront returns the points that are not both later and more expensive than another point, from the least late to the cheapest.
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

// otherObjectives returns the objectives for Forewarm's frontier in addition to the configured one; nil if only some policies are
// simulated.
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
