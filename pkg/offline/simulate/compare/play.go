package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// play simulates values under a target in milli-units, with all figures of a policy.
func (p *plan) play(name string, values []float64, target int64) (*PolicyResult, error) {
	steps := p.demand.Len() - stepsOf(p.warmUp)
	course, starts := newTimeline(steps), startTimes{}
	seen := 0
	c := p.config(&p.Config, target)
	c.Record = func(m sim.StepResult) {
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
	one := &PolicyResult{
		Name: name, Target: inUnits(target), MeetsObjective: report.LateShare() <= p.Objective, Report: report,
		Timeline: course.slots,
	}
	one.MeanEarly, one.MeanLate = starts.means()
	return one, p.interrupted()
}

// mostSlots bounds a course: a fortnight in stretches of 5 minutes, so that a plot can show a rise of it close up.
const mostSlots = 14 * 24 * 12

// timeline gathers steps into slots of equal length.
type timeline struct {
	slots []Slot
	// within is how many steps a slot has, seen how many were added.
	within, seen int
	// arrived and late are those of the slot under way, in replica-hours.
	arrived, late float64
}

func newTimeline(steps int) *timeline {
	return &timeline{within: max((steps+mostSlots-1)/mostSlots, 1)}
}

// add takes in a step.
func (c *timeline) add(m *sim.StepResult) {
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
