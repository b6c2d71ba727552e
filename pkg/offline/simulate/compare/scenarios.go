package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Scenarios are questions beyond the policies. The zero value asks none.
type Scenarios struct {
	// WhatIf simulates shorter lead times and longer waits.
	WhatIf bool
	// Shapes are other shapes of GPU.
	Shapes []Shape
	// Wake are servers that sleep, if its time is not 0.
	Wake Wake
	// Variants are other workloads that serve the demand, too.
	Variants []Variant
	// Forecasts judges the accuracy of the forecasts.
	Forecasts bool
}

// Answer simulates the scenarios of a comparison, and adds the results to it. One that was interrupted is left out. progress is
// called after each unit of work.
func (s *Scenarios) Answer(
	ctx context.Context, c Config, to *Comparison, progress func(done, total int, what string),
) (err error) {
	if s.WhatIf {
		if to.WhatIfs, err = WhatIfs(ctx, c, progress); err != nil {
			return err
		}
	}
	if len(s.Shapes) > 0 {
		if to.Shapes, err = Shapes(ctx, c, s.Shapes, progress); err != nil {
			return err
		}
	}
	var problems []error
	if s.Wake.Time != 0 {
		if to.Wakes, err = Wakes(ctx, c, s.Wake, progress); err != nil {
			problems = append(problems, fmt.Errorf("--wake-time: %w", err))
		}
	}
	if len(s.Variants) > 0 {
		to.Variants, err = Variants(ctx, c, s.Variants, progress)
		problems = append(problems, err)
	}
	if s.Forecasts && ctx.Err() == nil {
		to.Forecasts, err = accuracy.Run(ctx, c.Accuracy(), progress)
		if err != nil && ctx.Err() == nil {
			to.Notes = append(to.Notes, "The accuracy of forecasts is not shown: "+err.Error()+".")
		}
	}
	if to.Partial = to.Partial || ctx.Err() != nil; to.Partial {
		return nil
	}
	return errors.Join(problems...)
}

// Accuracy says of which forecasts the accuracy is judged.
func (c *Config) Accuracy() accuracy.Config {
	return accuracy.Config{Series: c.Demand, Lead: c.Lead.Median}
}

// scenarioJob plays Forewarm once.
func scenarioJob(what string, do func() error) job {
	return job{what, forewarmUnits, func(spent func(units int)) error {
		defer spent(forewarmUnits)
		return do()
	}}
}

// runForewarm simulates what Forewarm serves for the objective.
func (p *plan) runForewarm() (simulate.Report, error) {
	of, err := p.playForecaster(p.Objective)
	if err != nil {
		return simulate.Report{}, err
	}
	return p.run(of.values[0], p.capacityTarget())
}

// WhatIf is what Forewarm would take for the same objective if one thing were different.
type WhatIf struct {
	// Change is the difference in words: "lead time 2m30s", "wait 1m0s", or the name of a Shape.
	Change string
	// LeadTime is the median lead time of a replica; Wait is how long demand may wait without being late.
	LeadTime, Wait time.Duration
	// Capacity is what a replica sustains. It has GPUs, each for GPUPrice dollars an hour.
	Capacity, GPUs, GPUPrice float64
	// ReplicaHours that are paid for.
	ReplicaHours float64
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
}

// GPUHours that are paid for.
func (w *WhatIf) GPUHours() float64 { return w.ReplicaHours * w.GPUs }

// Dollars that they cost; 0 without a price.
func (w *WhatIf) Dollars() float64 { return w.GPUHours() * w.GPUPrice }

// WhatIfs simulates Forewarm with a half and a quarter of the lead time and with one minute, and with waits of 30 s to
// 5 min, without a warm pool. It returns those that are shorter, or longer, than the configured ones, the cheapest first.
// If the context ends, it returns what is complete. It reports progress as Compare does.
func WhatIfs(ctx context.Context, c Config, progress func(done, total int, what string)) ([]WhatIf, error) {
	base, err := newPlan(ctx, "what if", c)
	if err != nil {
		return nil, err
	}
	changed, changes := base.whatIfs()
	out, err := base.playChanges(ctx, changed, changes, progress)
	slices.SortStableFunc(out, func(a, b WhatIf) int { return cmp.Compare(a.ReplicaHours, b.ReplicaHours) })
	return out, err
}

// Shape is a kind of GPU, or a part of one, for the workload. What is 0 stays as configured.
type Shape struct {
	Name string
	// Price of a GPU for an hour in dollars, Capacity and GPUs of a replica.
	Price, Capacity, GPUs float64
}

// Shapes simulates Forewarm on each shape, without a warm pool. It returns them in their order. If the context ends, it
// returns what is complete. It reports progress as Compare does.
func Shapes(
	ctx context.Context, c Config, shapes []Shape, progress func(done, total int, what string),
) ([]WhatIf, error) {
	base, err := newPlan(ctx, "shapes", c)
	if err != nil {
		return nil, err
	}
	var changed []Config
	var names []string
	for _, s := range shapes {
		one := base.forewarmAlone()
		one.Capacity, one.GPUs = cmp.Or(s.Capacity, one.Capacity), cmp.Or(s.GPUs, one.GPUs)
		one.GPUPrice = cmp.Or(s.Price, one.GPUPrice)
		if err := one.Validate(); err != nil {
			return nil, fmt.Errorf("shape %s: %w", s.Name, err)
		}
		changed, names = append(changed, one), append(names, s.Name)
	}
	return base.playChanges(ctx, changed, names, progress)
}

// playChanges plays Forewarm with each of the changed configurations, and returns what is complete in their order.
func (p *plan) playChanges(
	ctx context.Context, changed []Config, changes []string, progress func(done, total int, what string),
) ([]WhatIf, error) {
	out, jobs := make([]WhatIf, len(changed)), make([]job, len(changed))
	for i, c := range changed {
		jobs[i] = scenarioJob(Forewarm+" with "+changes[i], func() error {
			r, err := p.with(c).runForewarm()
			if err != nil {
				return err
			}
			out[i] = WhatIf{
				Change: changes[i], LeadTime: c.Lead.Median, Wait: c.Wait,
				Capacity: c.Capacity, GPUs: c.GPUs, GPUPrice: c.GPUPrice,
				ReplicaHours: r.ReplicaHours, Limited: r.LimitedShare(c.BadHours),
				MeetsObjective: r.WorstShare(c.BadHours) <= c.Objective,
			}
			return nil
		})
	}
	if err := runJobs(ctx, p.Workers, jobs, progress); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(w WhatIf) bool { return w.Wait == 0 }), nil
}

// forewarmAlone is the configuration with Forewarm as the only policy and without a warm pool.
func (c *Config) forewarmAlone() Config {
	out := *c
	out.Only, out.Pool = []string{Forewarm}, nil
	return out
}

// whatIfs returns the changed configurations, and each change in words.
func (c *Config) whatIfs() (changed []Config, changes []string) {
	base := c.forewarmAlone()
	for _, share := range []float64{0.5, 0.25, time.Minute.Seconds() / max(c.Lead.Median.Seconds(), 1)} {
		one := base
		one.Lead = c.Lead.scaled(share)
		known := slices.ContainsFunc(changed, func(o Config) bool { return o.Lead.Median == one.Lead.Median })
		if known || one.Lead.Median >= c.Lead.Median || one.Lead.Median < sync {
			continue
		}
		if c.Node != nil {
			node := c.Node.scaled(share)
			one.Node = &node
		}
		changed, changes = append(changed, one), append(changes, "lead time "+one.leadTimeText())
	}
	for _, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute} {
		if wait > c.Wait {
			one := base
			one.Wait = wait
			changed, changes = append(changed, one), append(changes, "wait "+wait.String())
		}
	}
	return changed, changes
}

// scaled returns a share of a lead time, in whole seconds.
func (l LeadTime) scaled(share float64) LeadTime {
	of := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * share).Round(time.Second)
	}
	return LeadTime{Median: of(l.Median), P90: of(l.P90)}
}

// Wake is servers that sleep and wake up within a time, as those of vLLM's sleep mode.
type Wake struct {
	Time time.Duration
	// Spare replicas are awake beyond the observed demand, for a policy without a forecast; 0 for no such policy.
	Spare int
}

// WakeResult is what a policy takes where servers sleep.
type WakeResult struct {
	// Policy in words.
	Policy string
	// Awake are the replica-hours paid for as of servers that run, Asleep those of all others up to the highest number that was awake.
	Awake, Asleep float64
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
}

// WakesResult compares policies where servers sleep with Forewarm where they start.
type WakesResult struct {
	Wake Wake
	// Demand in replica-hours.
	Demand float64
	// Starts is Forewarm where they start, and Wakes are the policies where they wake: Forewarm, and then the spare.
	Starts WakeResult
	Wakes  []WakeResult
}

// BreakEven is the price of a server that sleeps, as a share of one that is awake, below which a policy where servers wake is cheaper than
// Forewarm where they start; 0 where it never is.
func (w *WakesResult) BreakEven(r *WakeResult) float64 {
	if saved := w.Starts.Awake - r.Awake; saved > 0 && r.Asleep > 0 {
		return saved / r.Asleep
	}
	return 0
}

// Wakes simulates servers that sleep, each as often as it is needed. Pools, nodes and work that may wait are left out. It reports progress as
// Compare does. If the context ends, it returns the context's error.
func Wakes(
	ctx context.Context, c Config, w Wake, progress func(done, total int, what string),
) (*WakesResult, error) {
	if w.Time <= 0 || w.Time > c.Lead.Median || w.Spare < 0 {
		return nil, fmt.Errorf("a wake time of %s and %d spare replicas, want up to the lead time %s, and 0 or more",
			w.Time, w.Spare, c.Lead.Median)
	}
	slow, err := newPlainPlan(ctx, "wakes", c)
	if err != nil {
		return nil, err
	}
	fast := slow.with(slow.Config)
	fast.Lead = LeadTime{Median: w.Time}
	out := &WakesResult{Wake: w, Demand: slow.demandHours(), Wakes: make([]WakeResult, 1, 2)}
	forewarm := func(p *plan, policy string, to *WakeResult) func() error {
		return func() error {
			r, problem := p.runForewarm()
			*to = p.wakeResult(policy, &r)
			return problem
		}
	}
	err = runJobs(ctx, slow.Workers, []job{
		scenarioJob("servers that start", forewarm(slow, "forewarm, starts in "+slow.leadTimeText(), &out.Starts)),
		scenarioJob("servers that wake", forewarm(fast, "forewarm, wakes in "+w.Time.String(), &out.Wakes[0])),
	}, progress)
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	if w.Spare == 0 {
		return out, nil
	}
	values, err := fast.values(simulate.NewObserved())
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] += float64(w.Spare) * fast.Capacity
	}
	r, err := fast.run(values, fast.capacityTarget())
	if err != nil {
		return nil, err
	}
	policy := fmt.Sprintf("the demand and %d awake, wakes in %s", w.Spare, w.Time)
	out.Wakes = append(out.Wakes, fast.wakeResult(policy, &r))
	return out, nil
}

func (c *Config) wakeResult(policy string, r *simulate.Report) WakeResult {
	return WakeResult{
		Policy: policy, Awake: r.ReplicaHours, Asleep: float64(r.Peak)*r.Duration.Hours() - r.ReplicaHours,
		Limited: r.LimitedShare(c.BadHours), MeetsObjective: r.LimitedShare(c.BadHours) <= c.Objective,
	}
}
