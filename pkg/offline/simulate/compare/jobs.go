package compare

import (
	"context"
	"errors"
	"slices"
	stdsync "sync"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// job is a part of the work that depends on no other.
type job struct {
	what string
	// units of work, a play of a target being one.
	units int
	// do calls spent for every unit.
	do func(spent func()) error
}

// runJobs runs all jobs in their order, as many at once as there are workers. An interrupted job is no error.
func runJobs(ctx context.Context, workers int, jobs []job, progress func(done, total int, what string)) error {
	total := 0
	for _, j := range jobs {
		total += j.units
	}
	var mutex stdsync.Mutex
	done := 0
	spent := func(what string) func() {
		return func() {
			mutex.Lock()
			defer mutex.Unlock()
			done++
			if progress != nil && ctx.Err() == nil {
				progress(done, total, what)
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
	// values that it serves; nil where it cannot be played. units are what they take.
	values func(*plan) ([]float64, error)
	units  int
}

// hindsightPolicies are all of them, in the order of their names.
func hindsightPolicies() []hindsightPolicy {
	return []hindsightPolicy{
		{name: BestTarget, values: func(p *plan) ([]float64, error) { return p.values(simulate.NewObserved()) }},
		{
			name:   Max15m,
			values: func(p *plan) ([]float64, error) { return p.values(simulate.NewMax(15*time.Minute, sync)) },
		},
		{name: Offset, values: func(p *plan) ([]float64, error) {
			return p.values(simulate.NewOffset(min(p.plannedLead(), day/2), sync, day, 7*day))
		}},
		{
			name:   HoltWinters,
			units:  60,
			values: func(p *plan) ([]float64, error) { return p.modelValues(p.holtWinters()) },
		},
		{name: ARIMA, units: 130, values: func(p *plan) ([]float64, error) { return p.modelValues(p.arima()) }},
		{
			name:   Oracle,
			values: func(p *plan) ([]float64, error) { return simulate.OracleValues(p.total, p.window(), sync) },
		},
	}
}

// forewarmUnits are what an objective of forewarm takes.
const forewarmUnits = 110

// jobs returns all jobs, the most important results first, as the user may interrupt.
func (p *plan) jobs() []job {
	names := hindsightPolicies()
	p.sweeps, p.unfit = make([]*sweep, len(names)), make([]bool, len(names))
	p.others = make([]*objectiveResult, len(p.otherObjectives()))
	asked := stdsync.OnceValues(p.forewarmValues)
	out := []job{
		{HPA, 1, p.playAsWritten},
		{Forewarm, forewarmUnits + len(p.others), func(spent func()) error { return p.playForewarm(asked, spent) }},
	}
	for i, r := range names {
		out = append(out, job{r.name, r.units + len(p.targets()), func(spent func()) error {
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

// playAsWritten plays the observed demand to the autoscaler as it is.
func (p *plan) playAsWritten(spent func()) error {
	values, err := p.values(simulate.NewObserved())
	if err != nil {
		return err
	}
	one, err := p.play(HPA, values, p.target())
	if err == nil {
		p.asWritten = one
	}
	spent()
	return err
}

// sweepPolicy plays what a rival serves under every target.
func (p *plan) sweepPolicy(i int, r hindsightPolicy, spent func()) error {
	values, err := r.values(p)
	if err = errors.Join(err, p.interrupted()); err != nil {
		return err
	}
	repeat(r.units, spent)
	if values == nil {
		p.unfit[i] = true
		repeat(len(p.targets()), spent)
		return nil
	}
	p.sweeps[i], err = p.sweep(values, spent)
	return err
}

// forewarmValues is what forewarm serves for the objective that was asked for and, where all policies are played, for others.
func (p *plan) forewarmValues() (forewarmServed, error) {
	objectives := append([]float64{p.Objective}, p.otherObjectives()...)
	var horizons []time.Duration
	if p.Pool != nil {
		horizons = append(horizons, leadtime.Window(p.Lead.planned()))
	}
	out, err := p.playForecaster(&p.Config, horizons, objectives...)
	return out, errors.Join(err, p.interrupted())
}

// playForewarm plays forewarm for the objective that was asked for, and for others, for its frontier.
func (p *plan) playForewarm(decide func() (forewarmServed, error), spent func()) error {
	of, err := decide()
	if err != nil {
		return err
	}
	repeat(forewarmUnits, spent)
	one, err := p.play(Forewarm, of.values[0], p.capacityTarget())
	if err != nil {
		return err
	}
	p.forewarm, p.objective, p.served = one, of.objective, of.values[0]
	for i, values := range of.values[1:] {
		report, err := simulate.Run(p.config(&p.Config, p.capacityTarget()), simulate.NewTape(values))
		if err != nil {
			return err
		}
		p.others[i] = &objectiveResult{p.otherObjectives()[i], values, report}
		spent()
	}
	return p.interrupted()
}
