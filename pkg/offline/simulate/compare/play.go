package compare

import (
	"errors"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// config plays the history under a target in milli-units.
func (p *plan) config(target int64) simulate.Config {
	return simulate.Config{Demand: p.demand, Deferrable: p.deferrable, Spec: p.spec(target), WarmUp: p.warmUp}
}

// run simulates values under a target in milli-units.
func (p *plan) run(values []float64, target int64) (simulate.Report, error) {
	report, err := simulate.Run(p.config(target), simulate.NewTape(values))
	return report, errors.Join(err, p.interrupted())
}

// play simulates values under a target in milli-units, with all figures of a policy.
func (p *plan) play(name string, values []float64, target int64) (*PolicyResult, error) {
	warm, seen := stepsOf(p.warmUp), 0
	course, starts := newTimeline(p.demand.Len()-warm), startTimes{max: min(int(p.HPA.Max), maxLevels)}
	c := p.config(target)
	c.Record = func(m sim.StepResult) {
		// The replicas of the warm-up are there when the count begins.
		starts.step(&m, seen >= warm)
		if seen >= warm {
			course.add(&m)
		}
		seen++
	}
	report, err := simulate.Run(c, simulate.NewTape(values))
	if err = errors.Join(err, p.interrupted()); err != nil {
		return nil, err
	}
	one := &PolicyResult{
		Name: name, Target: inUnits(target), MeetsObjective: report.WorstShare(p.BadHours) <= p.Objective,
		Report: report, Timeline: course.slots,
	}
	one.MeanEarly, one.MeanLate = starts.means()
	return one, nil
}

// maxSlots bounds a course: a fortnight in stretches of 5 minutes, so that a plot can show a rise of it close up.
const maxSlots = 14 * 24 * 12

// timeline gathers steps into slots of equal length.
type timeline struct {
	slots []Slot
	// within is how many steps a slot has, seen how many were added.
	within, seen int
	// arrived and late are those of the slot under way, in replica-hours.
	arrived, late float64
}

func newTimeline(steps int) *timeline {
	return &timeline{within: max((steps+maxSlots-1)/maxSlots, 1)}
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

// startTimes measures how long before or after the demand needed it every replica was ready that was started for a rise.
//
// It looks at the levels of replicas one by one: the n-th is needed while the demand is over n − 1 replicas' capacity, and
// there while n are ready. If it was ready before it was needed, it was early by that time; if it was needed first, late by
// that. A replica that nothing ever needed was started for no rise, and one that was only asked for when the demand had
// gone again does not count.
type startTimes struct {
	// max is the highest level that can be ready. Demand may be far above it.
	max                 int
	needed, ready, high int
	steps               int
	// needs and readies are, for each level, since which step it is needed and not there, or there and not needed; 0 is
	// neither, as steps count from 1.
	needs, readies []int
	early, late    time.Duration
	count          int
}

// maxLevels bounds the memory: higher levels do not count.
const maxLevels = 100_000

// step takes in a moment. Before it is counted only the levels are followed.
func (s *startTimes) step(m *sim.StepResult, counted bool) {
	s.steps++
	// Rounding errors do not make a whole number one replica more.
	needed := int(min(math.Ceil(m.Arrived/sync.Hours()-1e-9), float64(s.max)))
	ready := min(m.Ready, s.max)
	high := max(needed, ready, min(m.Replicas, s.max))
	for len(s.needs) < high {
		s.needs, s.readies = append(s.needs, 0), append(s.readies, 0)
	}
	// A level begins to be ready, or needed: it ends the wait for that, or begins to wait for the other.
	begin := func(since, waits *int, other bool, total *time.Duration) {
		switch {
		case *waits > 0:
			if counted {
				*total += time.Duration(s.steps-*waits) * sync
				s.count++
			}
			*waits = 0
		case !other && *since == 0:
			*since = s.steps
		}
	}
	for n := s.ready; n < ready; n++ {
		begin(&s.readies[n], &s.needs[n], needed > n, &s.late)
	}
	for n := ready; n < s.ready; n++ {
		s.readies[n] = 0
	}
	for n := s.needed; n < needed; n++ {
		begin(&s.needs[n], &s.readies[n], ready > n, &s.early)
	}
	// A level that is neither needed nor starting was a burst without a start.
	for n := high; n < s.high; n++ {
		s.needs[n] = 0
	}
	s.needed, s.ready, s.high = needed, ready, high
}

// means are those over all that were counted.
func (s *startTimes) means() (early, late time.Duration) {
	if s.count == 0 {
		return 0, 0
	}
	n := time.Duration(s.count)
	return s.early / n, s.late / n
}
