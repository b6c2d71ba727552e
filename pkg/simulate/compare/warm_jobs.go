package compare

import (
	"errors"
	stdsync "sync"

	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
	"github.com/forewarm/forewarm/pkg/simulate/pool"
	"github.com/forewarm/forewarm/pkg/warmpool"
	"github.com/forewarm/forewarm/pkg/workload"
)

// warming is what the trials of a pool have in common, and what came of them.
type warming struct {
	windows *pool.Windows
	// read is done once all stretches of the windows are.
	read stdsync.WaitGroup
	// near are the values that forewarm serves where no replica waits for a node, and far where it must.
	near, far func() ([]float64, error)
	// planned are the trials of the pool; fixed is forewarm, and tuned the autoscaler, beside a fixed number of chunks.
	planned      []Trial
	fixed, tuned *Trial
}

// WarmPool is what the jobs of a pool are told to be at.
const WarmPool = "warm pool"

// What the jobs of a pool take, in plays: a stretch of the forecaster, and a run with a plan at every step.
const (
	stretchUnits = 25
	plannedUnits = 60
)

// warmJobs are those of a pool. Jobs begin in their order: when a trial begins, all stretches have.
func (p *plan) warmJobs(far func() (answer, error)) []job {
	w := &warming{windows: pool.NewWindows(p.demand, p.window(), warmpool.Window(p.Lead.planned()))}
	w.near = stdsync.OnceValues(p.decidedNear)
	w.far = func() ([]float64, error) {
		d, err := far()
		return d.values, err
	}
	p.warm = w
	var out []job
	w.read.Add(w.windows.Stretches())
	for i := range w.windows.Stretches() {
		out = append(out, job{WarmPool, stretchUnits, func(spent func()) error {
			defer w.read.Done()
			defer times(stretchUnits, spent)
			return errors.Join(p.interrupted(), w.windows.Read(i))
		}})
	}
	pairs := len(p.Pool.spares()) * len(p.tunedTargets())
	return append(out,
		job{WarmPool, plannedUnits * len(p.budgets(0)), p.planBudgets},
		job{WarmPool, forewarmUnits + len(p.Pool.spares()), p.holdFixed},
		job{WarmPool, pairs, p.holdTuned},
	)
}

func times(n int, do func()) {
	for range n {
		do()
	}
}

// decidedNear is what forewarm serves where it looks ahead by the lead time of a pod alone.
func (p *plan) decidedNear() ([]float64, error) {
	near := p.Config
	near.Node, near.Pool = nil, nil
	forecasts, err := p.modelled(&near)
	if err != nil {
		return nil, err
	}
	values, _, err := p.history.decided(p.done, &near, p.Objective, forecasts)
	return values, errors.Join(err, p.interrupted())
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
	p.warm.read.Wait()
	idle := 0.0
	for i := range p.budgets(0) {
		budget := p.budgets(idle)[i]
		if i == 0 || budget > 0 || p.Pool.Asked.Budget > 0 {
			one, err := p.underBudget(budget)
			if err != nil {
				return err
			}
			one.Own = i == 0
			p.warm.planned = append(p.warm.planned, *one)
			idle = one.IdlePerDay() * p.GPUs
		}
		times(plannedUnits, spent)
	}
	return nil
}

// underBudget plays the pool with a budget.
func (p *plan) underBudget(budget float64) (*Trial, error) {
	near, err := p.warm.near()
	if err != nil {
		return nil, err
	}
	far, err := p.warm.far()
	if err != nil {
		return nil, err
	}
	keeper := pool.NewKeeper(pool.Config{
		Pool: p.ask(budget), Windows: p.warm.windows, Near: near, Far: far, From: p.untilCounted(),
		Member: warmpool.Member{
			Name: p.Pool.Member, Chunks: p.Pool.Chunks, Target: p.Capacity,
			MinReplicas: int(p.HPA.Min), MaxReplicas: int(p.HPA.Max),
		},
	})
	one := &Trial{Policy: Forewarm, Target: inUnits(p.full()), Holding: Planned, Budget: budget}
	err = p.try(one, keeper, keeper, p.full())
	one.Pool = keeper.Tally()
	return one, err
}

// try plays a policy beside what is held, under a target in milli-units.
func (p *plan) try(one *Trial, serves simulate.Policy, holds simulate.Pool, target int64) error {
	course := newCourse(p.demand.Len() - stepsOf(p.warmUp))
	c := p.config(&p.Config, target)
	c.Pool = holds
	c.Record = func(m workload.Moment) {
		if !m.At.Before(p.untilCounted()) {
			course.add(&m)
		}
	}
	report, err := simulate.Run(c, serves)
	if err != nil {
		return err
	}
	one.Report, one.Meets, one.Course = report, report.LateShare() <= p.Objective, course.slots
	return p.interrupted()
}

// holdFixed plays forewarm beside every fixed number of chunks, as if they always were enough.
func (p *plan) holdFixed(spent func()) error {
	near, err := p.warm.near()
	if err != nil {
		return err
	}
	times(forewarmUnits, spent)
	p.warm.fixed, err = p.bestSpare(Forewarm, near, []int64{p.full()}, spent)
	return err
}

// holdTuned plays the autoscaler beside every fixed number of chunks, under some of the targets each.
func (p *plan) holdTuned(spent func()) error {
	values, err := p.values(p.done, policy.NewObserved())
	if err != nil {
		return err
	}
	p.warm.tuned, err = p.bestSpare(BestTarget, values, p.tunedTargets(), spent)
	return err
}

// tunedTargets are every other one of the targets.
func (p *plan) tunedTargets() []int64 {
	var out []int64
	for i, t := range p.targets() {
		if i%2 == 0 {
			out = append(out, t)
		}
	}
	return out
}

// bestSpare is the cheapest number of chunks, and the target with it, that meets the objective; the least late where none
// does.
func (p *plan) bestSpare(name string, values []float64, targets []int64, spent func()) (*Trial, error) {
	var best *Trial
	var held tried
	for _, spare := range p.Pool.spares() {
		for _, target := range targets {
			c := p.config(&p.Config, target)
			c.Pool = pool.Spare(p.Pool.places(spare))
			report, err := simulate.Run(c, simulate.NewTape(values))
			if err = errors.Join(err, p.interrupted()); err != nil {
				return nil, err
			}
			one := tried{target, report}
			if best == nil || better(&one, &held, p.Objective) {
				held = one
				best = &Trial{
					Policy: name, Target: inUnits(target), Holding: Fixed, Spare: spare, Hindsight: true,
					Meets: report.LateShare() <= p.Objective, Report: report,
				}
			}
			spent()
		}
	}
	return best, nil
}
