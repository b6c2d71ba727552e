package compare

import (
	"errors"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// config returns the configuration of a simulation under a target in thousandths.
func (p *plan) config(target int64) simulate.Config {
	return simulate.Config{Demand: p.demand, Deferrable: p.deferrable, Spec: p.spec(target), WarmUp: p.warmUp}
}

// run simulates values under a target in thousandths.
func (p *plan) run(values []float64, target int64) (simulate.Report, error) {
	report, err := simulate.Run(p.config(target), simulate.NewTape(values))
	return report, errors.Join(err, p.interrupted())
}

// play simulates values under a target in thousandths, with all figures of a policy.
func (p *plan) play(name string, values []float64, target int64) (*PolicyResult, error) {
	warm, seen := stepsOf(p.warmUp), 0
	course, starts := newTimeline(p.demand.Len()-warm), startTimes{max: min(int(p.HPA.Max), maxLevels)}
	var idle idleMeter
	c := p.config(target)
	c.Record = func(m sim.StepResult) {
		// The replicas from the warm-up already exist when counting begins.
		starts.step(&m, seen >= warm)
		if seen >= warm {
			course.add(&m)
			idle.step(&m)
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
	if p.HPA.Cluster.ScaleToZero {
		one.IdleTime = idle.result()
	}
	return one, nil
}

// maxSlots limits the length of a timeline: two weeks in slots of 5 minutes, so that a plot can show a rise in detail.
const maxSlots = 14 * 24 * 12

// timeline groups steps into slots of equal length.
type timeline struct {
	slots []Slot
	// within is the number of steps in a slot, and seen is the number of steps that were added.
	within, seen int
	// arrived and late belong to the current slot, in replica-hours.
	arrived, late float64
}

func newTimeline(steps int) *timeline {
	return &timeline{within: max((steps+maxSlots-1)/maxSlots, 1)}
}

// add adds a step.
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

// stepsOf converts a duration to steps, rounded up.
func stepsOf(d time.Duration) int { return int((d + sync - 1) / sync) }

// startTimes measures how long before or after the demand needed it each replica was ready that was started for a rise.
//
// It looks at each level of replicas separately. Level n is needed while the demand exceeds the capacity of n − 1 replicas, and present
// while n replicas are ready. If it is ready before it is needed, it is early by that time; if it is needed first, it is late by that time.
// A replica that was never needed was not started for a rise. A replica that was requested only after the demand had gone does not count
// either.
type startTimes struct {
	// max is the highest level that can be ready. The demand may exceed it by far.
	max                 int
	needed, ready, high int
	steps               int
	// needs and readies have, for each level, the step since which it has been needed but not ready, or ready but not needed. Steps count from
	// 1, and 0 means neither.
	needs, readies []int
	early, late    time.Duration
	count          int
}

// maxLevels limits the memory. Higher levels do not count.
const maxLevels = 100_000

// step processes a step. If counted is false, it only follows the levels.
func (s *startTimes) step(m *sim.StepResult, counted bool) {
	s.steps++
	// A rounding error must not turn a whole number into one more replica.
	needed := int(min(math.Ceil(m.Arrived/sync.Hours()-1e-9), float64(s.max)))
	ready := min(m.Ready, s.max)
	high := max(needed, ready, min(m.Replicas, s.max))
	for len(s.needs) < high {
		s.needs, s.readies = append(s.needs, 0), append(s.readies, 0)
	}
	// A level begins to be ready or to be needed. This ends the wait for it, or begins the wait for the other.
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

// means returns the means over all replicas that were counted.
func (s *startTimes) means() (early, late time.Duration) {
	if s.count == 0 {
		return 0, 0
	}
	n := time.Duration(s.count)
	return s.early / n, s.late / n
}
