package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// playTrial simulates the members with what is held, under a target in milli-units.
func (p *plan) playTrial(one *Trial, serves func(member int) simulate.Policy, holds simulate.Pool, target int64) error {
	alike := p.pool.members
	c := p.config(&p.Config, target)
	c.Pool = holds
	var whole memberTotals
	if one.OwnBudget {
		whole.course = newTimeline(alike.Steps(p.demand.Len()) - stepsOf(p.warmUp))
	}
	var parts []simulate.PolicyRun
	for i := range alike.Count {
		part := simulate.PolicyRun{Demand: alike.Series(i, p.demand), Policy: serves(i)}
		if one.OwnBudget {
			part.Record = whole.record(i == alike.Count-1, p.countedFrom())
		}
		parts = append(parts, part)
	}
	reports, err := simulate.RunTogether(c, parts)
	if err != nil {
		return err
	}
	one.Report = simulate.SumReports(reports)
	one.Limited = one.Report.LimitedShare(p.BadHours)
	one.MeetsObjective = one.Limited <= p.Objective
	if one.OwnBudget {
		one.Timeline = whole.course.slots
	}
	return p.interrupted()
}

// memberTotals adds up the moments of all members.
type memberTotals struct {
	course *timeline
	sum    sim.StepResult
}

// record sees the steps of a member; with the last one a step is complete.
func (t *memberTotals) record(last bool, counted time.Time) func(sim.StepResult) {
	return func(m sim.StepResult) {
		t.sum.At = m.At
		t.sum.Arrived += m.Arrived
		t.sum.Late += m.Late
		t.sum.Ready += m.Ready
		t.sum.Held += m.Held
		t.sum.Idle += m.Idle
		if !last {
			return
		}
		if !m.At.Before(counted) {
			t.course.add(&t.sum)
		}
		t.sum = sim.StepResult{}
	}
}

// tapes serve each member its own part of values.
func (p *plan) tapes(values []float64) func(member int) simulate.Policy {
	return func(member int) simulate.Policy { return simulate.NewTape(p.pool.members.Values(member, values)) }
}

// tunedTargets are every third one of the targets.
func (p *plan) tunedTargets() []int64 {
	var out []int64
	for i, t := range p.targets() {
		if i%3 == 0 {
			out = append(out, t)
		}
	}
	return out
}

// playFixed simulates values with each of some numbers of chunks, under each of some targets. The result is complete
// or an error, because the best is searched among them.
func (p *plan) playFixed(name string, values []float64, numbers []int, targets []int64, spent func()) ([]Trial, error) {
	var out []Trial
	for _, n := range numbers {
		for _, target := range targets {
			one := Trial{Policy: name, Target: inUnits(target), Holding: HoldFixed, FixedChunks: n, Hindsight: true}
			if err := p.playTrial(&one, p.tapes(values), fixedPlaces(p.Pool.places(n)), target); err != nil {
				return nil, err
			}
			out = append(out, one)
			repeat(p.pool.members.Count, spent)
		}
	}
	return out, nil
}
