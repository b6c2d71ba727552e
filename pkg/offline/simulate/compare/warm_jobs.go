package compare

import (
	"errors"
	"math"
	stdsync "sync"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
	"github.com/forewarm/forewarm/pkg/offline/simulate/pool"
)

// warming is what the trials of a pool have in common, and what came of them.
type warming struct {
	alike pool.Alike
	// near are the values that forewarm serves where no replica waits for a node, and far where it must.
	near, far func() (answer, error)
	// without are the trials that hold nothing, planned those of the pool; fixed are those of forewarm, and tuned those of
	// the autoscaler, beside a fixed number of chunks; bare are those of the autoscaler beside none.
	without, planned   []Trial
	fixed, tuned, bare []Trial
}

// WarmPool is what the jobs of a pool are told to be at.
const WarmPool = "warm pool"

// plannedUnits are what a run with a plan at every step takes, in plays.
const plannedUnits = 60

// warmJobs are those of a pool.
func (p *plan) warmJobs(far func() (answer, error)) []job {
	w := &warming{
		alike: pool.NewAlike(p.Pool.Members, p.demand.Len(), stepsOf(p.warmUp), sync),
		near:  stdsync.OnceValues(p.decidedNear), far: far,
	}
	p.warm = w
	n := w.alike.Members
	return []job{
		{WarmPool, 2 * n, p.holdNothing},
		{WarmPool, plannedUnits * n * len(p.budgets(0)), p.planBudgets},
		{WarmPool, forewarmUnits + n*len(p.Pool.spares(every)), p.holdFixed},
		{WarmPool, n * (1 + len(p.Pool.spares(doubled))) * len(p.tunedTargets()), p.holdTuned},
	}
}

// times does something so often.
func times(n int, do func()) {
	for range n {
		do()
	}
}

// decidedNear is what forewarm serves where it looks ahead by the lead time of a pod alone.
func (p *plan) decidedNear() (answer, error) {
	near := p.Config
	near.Node, near.Pool = nil, nil
	out, err := p.decided(&near, nil, p.Objective)
	return out, errors.Join(err, p.interrupted())
}

// budgets are those that a pool is played with, its own first; of a pool without one they are parts of what stood idle.
func (p *plan) budgets(idle float64) []float64 {
	if own := p.Pool.Asked.Budget; own > 0 {
		return []float64{own, own / 2, own * 2, 0}
	}
	return []float64{0, idle / 2, idle / 4}
}

// planBudgets plays the pool under its budget and others.
func (p *plan) planBudgets(spent func()) error {
	idle := 0.0
	enough := math.Inf(1) // The pool's own budget where it was never spent: larger ones come to the same.
	for i := range p.budgets(0) {
		budget := p.budgets(idle)[i]
		switch {
		case i > 0 && budget == 0 && p.Pool.Asked.Budget == 0: // Nothing stood idle.
		case bound(budget) > enough:
			same := p.warm.planned[0]
			same.Budget, same.Own, same.Course = budget, false, nil
			p.warm.planned = append(p.warm.planned, same)
		default:
			one, spentAll, err := p.underBudget(budget, i == 0)
			if err != nil {
				return err
			}
			p.warm.planned = append(p.warm.planned, *one)
			if i > 0 {
				break
			}
			idle = one.IdlePerDay() * p.GPUs
			if !spentAll {
				enough = bound(budget)
			}
		}
		times(plannedUnits*p.warm.alike.Members, spent)
	}
	return nil
}

// underBudget plays the pool with a budget, and says whether it was spent at any time.
func (p *plan) underBudget(budget float64, own bool) (_ *Trial, spentAll bool, _ error) {
	near, err := p.warm.near()
	if err != nil {
		return nil, false, err
	}
	far, err := p.warm.far()
	if err != nil {
		return nil, false, err
	}
	keeper := pool.NewKeeper(pool.Config{
		Pool: p.ask(budget), Alike: p.warm.alike, Windows: pool.NewWindows(p.demand, far.windows),
		Near: near.values[0], Far: far.values[0], Refresh: sync, From: p.untilCounted(),
		Member: warmpool.Member{
			Name: p.Pool.Member, Chunks: p.Pool.Chunks, Target: p.Capacity,
			MinReplicas: int(p.HPA.Min), MaxReplicas: int(p.HPA.Max),
		},
	})
	one := &Trial{Policy: Forewarm, Target: inUnits(p.full()), Holding: Planned, Budget: budget, Own: own}
	err = p.try(one, keeper.Serves, keeper, p.full())
	one.Pool = keeper.Tally()
	return one, keeper.Bound(), err
}

// holdNothing plays the autoscaler as it is written, and forewarm, without a pool.
func (p *plan) holdNothing(spent func()) error {
	observed, err := p.values(policy.NewObserved())
	if err != nil {
		return err
	}
	far, err := p.warm.far()
	if err != nil {
		return err
	}
	for _, of := range []struct {
		name   string
		values []float64
		target int64
	}{{HPA, observed, p.target()}, {Forewarm, far.values[0], p.full()}} {
		one := &Trial{Policy: of.name, Target: inUnits(of.target), Holding: None}
		if err := p.try(one, p.tapes(of.values), nil, of.target); err != nil {
			return err
		}
		p.warm.without = append(p.warm.without, *one)
		times(p.warm.alike.Members, spent)
	}
	return nil
}

// holdFixed plays forewarm beside every fixed number of chunks, as if they always were enough.
func (p *plan) holdFixed(spent func()) error {
	near, err := p.warm.near()
	if err != nil {
		return err
	}
	times(forewarmUnits, spent)
	p.warm.fixed, err = p.spares(Forewarm, near.values[0], p.Pool.spares(every), []int64{p.full()}, spent)
	return err
}

// holdTuned plays the autoscaler beside nothing and beside some fixed numbers of chunks, under some of the targets each.
func (p *plan) holdTuned(spent func()) error {
	values, err := p.values(policy.NewObserved())
	if err != nil {
		return err
	}
	if p.warm.bare, err = p.spares(BestTarget, values, []int{0}, p.tunedTargets(), spent); err != nil {
		return err
	}
	p.warm.tuned, err = p.spares(BestTarget, values, p.Pool.spares(doubled), p.tunedTargets(), spent)
	return err
}
