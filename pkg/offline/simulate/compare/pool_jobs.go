package compare

import (
	stdsync "sync"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// poolRun has what the trials of a pool share, and their results.
type poolRun struct {
	members shiftedMembers
	// near has the values that Forewarm serves if no replica waits for a node, and far those that it serves if replicas wait for nodes.
	near, far func() (*servedRecorder, error)
	// without has the trials that hold nothing, and planned has the trials of the pool. fixed has the trials of Forewarm with a fixed number
	// of chunks, and tuned has those of the autoscaler. withoutTuned has trials of the autoscaler without chunks.
	without, planned           []Trial
	fixed, tuned, withoutTuned []Trial
}

// WarmPool is the name of a pool's jobs in the progress.
const WarmPool = "warm pool"

// plannedUnits is the amount of work for a simulation that plans at every step.
const plannedUnits = 60

// poolJobs returns the jobs for a pool.
func (p *plan) poolJobs(far func() (*servedRecorder, error)) []job {
	near := p.Config
	near.Node, near.Pool = nil, nil
	p.pool = &poolRun{
		members: newShiftedMembers(p.Pool.Members, p.demand.Len(), stepsOf(p.warmUp)),
		near: stdsync.OnceValues(
			func() (*servedRecorder, error) { return p.with(near).playForecaster(p.Objective) },
		),
		far: far,
	}
	n := p.pool.members.Count
	return []job{
		{WarmPool, 2 * n, p.playWithoutPool},
		{WarmPool, plannedUnits * n * (1 + len(p.otherBudgets(0))), p.playBudgets},
		{WarmPool, forewarmUnits + n*len(p.Pool.fixedNumbers(fineRatio)), p.playFixedForewarm},
		{WarmPool, n * (1 + len(p.Pool.fixedNumbers(coarseRatio))) * len(p.tunedTargets()), p.playFixedTuned},
	}
}

// otherBudgets returns the budgets that are simulated in addition to the pool's own. If the pool has no budget, they are shares of the idle
// capacity.
func (p *plan) otherBudgets(idle float64) []float64 {
	if own := p.Pool.Spec.Budget; own > 0 {
		return []float64{own / 2, own * 2, 0}
	}
	return []float64{idle / 2, idle / 4}
}

// playBudgets simulates the pool under its own and other budgets.
func (p *plan) playBudgets(spent func(units int)) error {
	own, spentAll, err := p.playBudget(p.Pool.Spec.Budget, true)
	if err != nil {
		return err
	}
	p.pool.planned = append(p.pool.planned, *own)
	spent(plannedUnits * p.pool.members.Count)
	idle := own.IdlePerDay() * p.GPUs
	for _, budget := range p.otherBudgets(idle) {
		switch {
		case p.Pool.Spec.Budget == 0 && idle == 0:
		case !spentAll && budgetLimit(budget) > budgetLimit(own.Budget): // A larger budget would give the same result.
			same := *own
			same.Budget, same.OwnBudget, same.Timeline = budget, false, nil
			p.pool.planned = append(p.pool.planned, same)
		default:
			one, _, err := p.playBudget(budget, false)
			if err != nil {
				return err
			}
			p.pool.planned = append(p.pool.planned, *one)
		}
		spent(plannedUnits * p.pool.members.Count)
	}
	return nil
}

// playBudget simulates the pool with a budget, and reports whether it was ever spent.
func (p *plan) playBudget(budget float64, own bool) (_ *Trial, spentAll bool, _ error) {
	near, err := p.pool.near()
	if err != nil {
		return nil, false, err
	}
	far, err := p.pool.far()
	if err != nil {
		return nil, false, err
	}
	pool := p.Pool.Spec
	pool.Budget, pool.Pod, pool.Node = budget, p.Lead.planned(), p.Node.planned()
	keeper := newPlannedPool(plannedPool{
		pool: pool, alike: p.pool.members, windows: newWindowPeaks(p.demand, far.windows),
		near: near.values[0], far: far.values[0], from: p.countedFrom(),
	}, warmpool.Member{
		Name: p.Pool.Member, Chunks: p.Pool.Chunks, Target: p.Capacity,
		MinReplicas: int(p.HPA.Min), MaxReplicas: int(p.HPA.Max),
	})
	one := &Trial{
		Policy: Forewarm, Target: inUnits(p.capacityTarget()), Holding: HoldPlanned, Budget: budget, OwnBudget: own,
	}
	err = p.playTrial(one, keeper.Policy, keeper, p.capacityTarget())
	one.Pool = keeper.tally
	return one, keeper.budgetSpent, err
}

// playWithoutPool simulates the autoscaler as written, and Forewarm, without a pool.
func (p *plan) playWithoutPool(spent func(units int)) error {
	observed, err := p.values(simulate.NewObserved())
	if err != nil {
		return err
	}
	far, err := p.pool.far()
	if err != nil {
		return err
	}
	for _, of := range []struct {
		name   string
		values []float64
		target int64
	}{{HPA, observed, p.target()}, {Forewarm, far.values[0], p.capacityTarget()}} {
		one := &Trial{Policy: of.name, Target: inUnits(of.target), Holding: HoldNothing}
		if err := p.playTrial(one, p.tapes(of.values), nil, of.target); err != nil {
			return err
		}
		p.pool.without = append(p.pool.without, *one)
		spent(p.pool.members.Count)
	}
	return nil
}

// playFixedForewarm simulates Forewarm with every fixed number of chunks, as if the chunks were always enough.
func (p *plan) playFixedForewarm(spent func(units int)) error {
	near, err := p.pool.near()
	if err != nil {
		return err
	}
	spent(forewarmUnits)
	p.pool.fixed, err = p.playFixed(Forewarm, near.values[0], p.Pool.fixedNumbers(fineRatio),
		[]int64{p.capacityTarget()}, spent)
	return err
}

// playFixedTuned simulates the autoscaler without a pool and with some fixed numbers of chunks, each with some targets.
func (p *plan) playFixedTuned(spent func(units int)) error {
	values, err := p.values(simulate.NewObserved())
	if err != nil {
		return err
	}
	if p.pool.withoutTuned, err = p.playFixed(BestTarget, values, []int{0}, p.tunedTargets(), spent); err != nil {
		return err
	}
	p.pool.tuned, err = p.playFixed(BestTarget, values, p.Pool.fixedNumbers(coarseRatio), p.tunedTargets(), spent)
	return err
}

// playTrial simulates the members with a holding, under a target in thousandths.
func (p *plan) playTrial(one *Trial, serves func(member int) simulate.Policy, holds simulate.Pool, target int64) error {
	alike := p.pool.members
	c := p.config(target)
	c.Pool = holds
	course := newTimeline(alike.Steps(p.demand.Len()) - stepsOf(p.warmUp))
	var parts []simulate.PolicyRun
	var sum sim.StepResult // The sum of all members; a step is complete after the last member.
	for i := range alike.Count {
		part := simulate.PolicyRun{Demand: alike.Series(i, p.demand), Policy: serves(i)}
		if one.OwnBudget {
			part.Record = func(m sim.StepResult) {
				sum.At = m.At
				sum.Arrived += m.Arrived
				sum.Late += m.Late
				sum.Ready += m.Ready
				sum.Held += m.Held
				sum.Idle += m.Idle
				if i < alike.Count-1 {
					return
				}
				if !m.At.Before(p.countedFrom()) {
					course.add(&sum)
				}
				sum = sim.StepResult{}
			}
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
	one.Timeline = course.slots
	return p.interrupted()
}

// tapes serves each member its own part of the values.
func (p *plan) tapes(values []float64) func(member int) simulate.Policy {
	return func(member int) simulate.Policy { return simulate.NewTape(p.pool.members.Values(member, values)) }
}

// tunedTargets returns every third target.
func (p *plan) tunedTargets() []int64 {
	var out []int64
	for i, t := range p.targets() {
		if i%3 == 0 {
			out = append(out, t)
		}
	}
	return out
}

// playFixed simulates values with some numbers of chunks, each under some targets. The result is complete or an error, because the best one
// is selected from it.
func (p *plan) playFixed(
	name string,
	values []float64,
	numbers []int,
	targets []int64,
	spent func(units int),
) ([]Trial, error) {
	var out []Trial
	for _, n := range numbers {
		for _, target := range targets {
			one := Trial{Policy: name, Target: inUnits(target), Holding: HoldFixed, FixedChunks: n, Hindsight: true}
			if err := p.playTrial(&one, p.tapes(values), fixedPlaces(p.Pool.places(n)), target); err != nil {
				return nil, err
			}
			out = append(out, one)
			spent(p.pool.members.Count)
		}
	}
	return out, nil
}
