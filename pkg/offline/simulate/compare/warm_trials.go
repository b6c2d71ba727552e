package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/pool"
)

// try plays what serves each member beside what is held, under a target in milli-units.
func (p *plan) try(one *Trial, serves func(member int) simulate.Policy, holds simulate.Pool, target int64) error {
	alike := p.warm.alike
	c := p.config(&p.Config, target)
	c.Pool = holds
	var whole together
	if one.Own {
		whole.course = newCourse(alike.Steps(p.demand.Len()) - stepsOf(p.warmUp))
	}
	var parts []simulate.Part
	for i := range alike.Members {
		part := simulate.Part{Demand: alike.Series(i, p.demand), Policy: serves(i)}
		if one.Own {
			part.Record = whole.record(i == alike.Members-1, p.untilCounted())
		}
		parts = append(parts, part)
	}
	reports, err := simulate.Together(c, parts)
	if err != nil {
		return err
	}
	one.Report = simulate.Sum(reports)
	one.Meets = one.Report.LateShare() <= p.Objective
	if one.Own {
		one.Course = whole.course.slots
	}
	return p.interrupted()
}

// together adds up the moments of all members.
type together struct {
	course *course
	sum    hpasim.Moment
}

// record sees the steps of a member; with the last one a step is complete.
func (t *together) record(last bool, counted time.Time) func(hpasim.Moment) {
	return func(m hpasim.Moment) {
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
		t.sum = hpasim.Moment{}
	}
}

// tapes serve each member its own part of values.
func (p *plan) tapes(values []float64) func(member int) simulate.Policy {
	return func(member int) simulate.Policy { return simulate.NewTape(p.warm.alike.Of(member, values)) }
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

// spares plays values beside every one of some numbers of chunks, under every one of some targets. Nothing is known of them
// unless all were played: the best is to be found among them.
func (p *plan) spares(name string, values []float64, numbers []int, targets []int64, spent func()) ([]Trial, error) {
	var out []Trial
	for _, n := range numbers {
		for _, target := range targets {
			one := Trial{Policy: name, Target: inUnits(target), Holding: Fixed, Spare: n, Hindsight: true}
			if err := p.try(&one, p.tapes(values), pool.Spare(p.Pool.places(n)), target); err != nil {
				return nil, err
			}
			out = append(out, one)
			times(p.warm.alike.Members, spent)
		}
	}
	return out, nil
}
