package compare

import (
	"slices"

	"github.com/forewarm/forewarm/pkg/simulate"
)

// tried is what came of a target in milli-units.
type tried struct {
	target int64
	report simulate.Report
}

// sweep is what a rival's values came to under every target.
type sweep struct {
	all  []tried
	best *Policy
}

// targets are the shares of a replica's capacity from 20 % to 110 %, in milli-units, and the one that is written.
func (p *plan) targets() []int64 {
	out := []int64{p.target()}
	for mille := 200; mille <= 1100; mille += 25 {
		out = append(out, p.share(float64(mille)/1000))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sweep plays values under every target, and the best of them again, in full.
func (p *plan) sweep(values []float64, spent func()) (*sweep, error) {
	s := &sweep{}
	for _, target := range p.targets() {
		if err := p.interrupted(); err != nil {
			return nil, err
		}
		report, err := simulate.Run(p.config(&p.Config, target), simulate.NewTape(values))
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, tried{target, report})
		spent()
	}
	var err error
	s.best, err = p.play("", values, cheapest(s.all, p.Objective).target)
	return s, err
}

// cheapest is the cheapest target that meets an objective or, where none does, the least late. Of targets alike it is the
// larger one.
func cheapest(all []tried, objective float64) tried {
	best := all[0]
	for _, t := range all[1:] {
		if better(&t, &best, objective) {
			best = t
		}
	}
	return best
}

func better(a, b *tried, objective float64) bool {
	meets, met := a.report.LateShare() <= objective, b.report.LateShare() <= objective
	switch {
	case meets != met:
		return meets
	case meets:
		return a.report.Replicas <= b.report.Replicas
	case a.report.LateShare() != b.report.LateShare():
		return a.report.LateShare() < b.report.LateShare()
	}
	return a.report.Replicas <= b.report.Replicas
}

// policy is the rival with its best target, and what the others would have cost.
func (s *sweep) policy(name string) *Policy {
	out := *s.best
	out.Name, out.Hindsight = name, true
	var points []Point
	for _, t := range s.all {
		points = append(points, Point{Setting: inUnits(t.target), Late: t.report.LateShare(), Cost: t.report.Cost()})
	}
	out.Frontier = front(points)
	return &out
}
