package compare

import (
	"context"
	"errors"
	"slices"
	stdsync "sync"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// job is a part of the work that does not depend on another one.
type job struct {
	what string
	// units is the amount of work, in simulations of one target.
	units int
	// do reports the units as it completes them.
	do func(spent func(units int)) error
}

// runJobs runs all jobs in their order, as many concurrently as there are workers. An interrupted job is not an error.
func runJobs(ctx context.Context, workers int, jobs []job, progress func(done, total int, what string)) error {
	total := 0
	for _, j := range jobs {
		total += j.units
	}
	var mutex stdsync.Mutex
	done := 0
	spent := func(what string) func(units int) {
		return func(units int) {
			mutex.Lock()
			defer mutex.Unlock()
			for range units {
				done++
				if progress != nil && ctx.Err() == nil {
					progress(done, total, what)
				}
			}
		}
	}
	errs := make([]error, len(jobs))
	var begun atomic.Int64
	var working stdsync.WaitGroup
	for range min(workers, len(jobs)) {
		working.Go(func() {
			for i := begun.Add(1) - 1; i < int64(len(jobs)) && ctx.Err() == nil; i = begun.Add(1) - 1 {
				if err := jobs[i].do(spent(jobs[i].what)); !errors.Is(err, errInterrupted) {
					errs[i] = err
				}
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// hindsightPolicy is a policy that gets the best target in hindsight.
type hindsightPolicy struct {
	name string
	// units is the amount of work to compute its values.
	units int
	// values returns the values that the policy serves; nil if it cannot be simulated.
	values func(*plan) ([]float64, error)
}

// hindsightPolicies returns all of them in the order of their names.
func hindsightPolicies() []hindsightPolicy {
	return []hindsightPolicy{
		{BestTarget, 0, func(p *plan) ([]float64, error) { return p.values(simulate.NewObserved()) }},
		{Max15m, 0, func(p *plan) ([]float64, error) { return p.values(simulate.NewMax(15*time.Minute, sync)) }},
		{Offset, 0, func(p *plan) ([]float64, error) {
			return p.values(simulate.NewOffset(min(p.plannedLead(), day/2), sync, day, 7*day))
		}},
		{HoltWinters, 60, func(p *plan) ([]float64, error) { return p.modelValues(p.holtWinters()) }},
		{ARIMA, 130, func(p *plan) ([]float64, error) { return p.modelValues(p.arima()) }},
		{Oracle, 0, func(p *plan) ([]float64, error) { return simulate.OracleValues(p.total, p.window(), sync) }},
	}
}

// forewarmUnits is the amount of work for one objective of Forewarm.
const forewarmUnits = 110

// jobs returns all jobs, with the most important results first, because the user may interrupt.
func (p *plan) jobs() []job {
	names := hindsightPolicies()
	p.sweeps = make([]*sweep, len(names))
	asked := stdsync.OnceValues(p.forewarmValues)
	out := []job{
		{HPA, 1, p.playAsWritten},
		{Forewarm, forewarmUnits + len(p.otherObjectives()), func(spent func(units int)) error {
			return p.playForewarm(asked, spent)
		}},
	}
	for i, r := range names {
		out = append(out, job{r.name, r.units + len(p.targets()), func(spent func(units int)) error {
			return p.sweepPolicy(i, r, spent)
		}})
	}
	if p.Only != nil {
		return slices.DeleteFunc(out, func(j job) bool { return !slices.Contains(p.Only, j.what) })
	}
	if p.Pool != nil {
		out = append(out, p.poolJobs(asked)...)
	}
	return out
}

// playAsWritten simulates the autoscaler as it is on the observed demand.
func (p *plan) playAsWritten(spent func(units int)) error {
	values, err := p.values(simulate.NewObserved())
	if err != nil {
		return err
	}
	p.asWritten, err = p.play(HPA, values, p.target())
	spent(1)
	return err
}

// sweepPolicy simulates the values of the i-th policy under every target.
func (p *plan) sweepPolicy(i int, r hindsightPolicy, spent func(units int)) error {
	values, err := r.values(p)
	if err = errors.Join(err, p.interrupted()); err != nil {
		return err
	}
	spent(r.units)
	if values == nil {
		p.sweeps[i] = &sweep{}
		spent(len(p.targets()))
		return nil
	}
	p.sweeps[i], err = p.sweep(r.name, values, spent)
	return err
}

// forewarmValues returns the values that Forewarm serves for the configured objective. If all policies are simulated, it also includes
// other objectives.
func (p *plan) forewarmValues() (*servedRecorder, error) {
	return p.playForecaster(append([]float64{p.Objective}, p.otherObjectives()...)...)
}

// playForewarm simulates Forewarm for the configured objective, and for other objectives, which make up its frontier.
func (p *plan) playForewarm(decide func() (*servedRecorder, error), spent func(units int)) error {
	of, err := decide()
	if err != nil {
		return err
	}
	spent(forewarmUnits)
	one, err := p.play(Forewarm, of.values[0], p.capacityTarget())
	if err != nil {
		return err
	}
	p.forewarm, p.served = one, of
	one.Frontier = []Point{p.pointOf(p.Objective, &one.Report)}
	for i, objective := range p.otherObjectives() {
		report, err := p.run(of.values[1+i], p.capacityTarget())
		if err != nil {
			return err
		}
		p.others = append(p.others, objectiveResult{objective, of.values[1+i], report})
		one.Frontier = paretoFront(append(one.Frontier, p.pointOf(objective, &report)))
		spent(1)
	}
	return nil
}
