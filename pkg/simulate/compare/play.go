package compare

import (
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/workload"
)

// play plays values under a target in milli-units, with all that is told of a policy.
func (p *plan) play(name string, values []float64, target int64) (*Policy, error) {
	steps := p.demand.Len() - stepsOf(p.warmUp)
	course, starts := newCourse(steps), starts{}
	seen := 0
	c := p.config(&p.Config, target)
	c.Record = func(m workload.Moment) {
		// The replicas of the warm-up are there when the count begins.
		counted := seen >= stepsOf(p.warmUp)
		starts.step(&m, counted)
		if counted {
			course.add(&m)
		}
		seen++
	}
	report, err := simulate.Run(c, simulate.NewTape(values))
	if err != nil {
		return nil, err
	}
	one := &Policy{
		Name:   name,
		Target: inUnits(target),
		Meets:  report.LateShare() <= p.Objective,
		Report: report,
		Course: course.slots,
	}
	one.Early, one.LateBy = starts.means()
	return one, p.interrupted()
}
