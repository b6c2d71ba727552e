package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// play plays values under a target in milli-units, with all that is told of a policy.
func (p *plan) play(name string, values []float64, target int64) (*Policy, error) {
	steps := p.demand.Len() - stepsOf(p.warmUp)
	course, starts := newCourse(steps), starts{}
	seen := 0
	c := p.config(&p.Config, target)
	c.Record = func(m hpasim.Moment) {
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
		Name: name, Target: inUnits(target), Meets: report.LateShare() <= p.Objective, Report: report,
		Course: course.slots,
	}
	one.Early, one.LateBy = starts.means()
	return one, p.interrupted()
}

// mostSlots bounds a course: a fortnight in stretches of 5 minutes, so that a plot can show a rise of it close up.
const mostSlots = 14 * 24 * 12

// course gathers steps into slots of equal length.
type course struct {
	slots []Slot
	// within is how many steps a slot has, seen how many were added.
	within, seen int
	// arrived and late are those of the slot under way, in replica-hours.
	arrived, late float64
}

func newCourse(steps int) *course { return &course{within: max((steps+mostSlots-1)/mostSlots, 1)} }

// add takes in a step.
func (c *course) add(m *hpasim.Moment) {
	demand, ready, paid, idle := m.Arrived/sync.Hours(), float64(m.Ready), float64(m.Held), float64(m.Idle)
	if c.seen%c.within == 0 {
		c.slots = append(c.slots, Slot{Start: m.At, Demand: demand, Ready: ready, Paid: paid, Idle: idle})
		c.arrived, c.late = 0, 0
	}
	c.seen++
	c.arrived += m.Arrived
	c.late += m.Late
	s := &c.slots[len(c.slots)-1]
	s.Demand, s.Ready, s.Paid = max(s.Demand, demand), min(s.Ready, ready), max(s.Paid, paid)
	s.Idle = max(s.Idle, idle)
	if c.arrived > 0 {
		s.Late = c.late / c.arrived
	}
}

// stepsOf is a duration in steps, rounded up.
func stepsOf(d time.Duration) int { return int((d + sync - 1) / sync) }
