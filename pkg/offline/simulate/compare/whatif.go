package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

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
		if err := one.problems(); err != nil {
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
	found := make([]*WhatIf, len(changed))
	jobs := make([]job, len(changed))
	for i := range changed {
		with := &plan{Config: changed[i], history: p.history}
		jobs[i] = job{Forewarm + " with " + changes[i], forewarmUnits, func(spent func()) error {
			if err := with.playForewarm(with.forewarmValues, spent); err != nil {
				return err
			}
			r := with.forewarm
			found[i] = &WhatIf{
				Change:         changes[i],
				LeadTime:       with.Lead.Median,
				Wait:           with.Wait,
				Capacity:       with.Capacity,
				GPUs:           with.GPUs,
				GPUPrice:       with.GPUPrice,
				ReplicaHours:   r.Report.ReplicaHours,
				Limited:        r.Report.LimitedShare(with.BadHours),
				MeetsObjective: r.MeetsObjective,
			}
			return nil
		}}
	}
	if err := runJobs(ctx, p.Workers, jobs, progress); err != nil {
		return nil, err
	}
	var out []WhatIf
	for _, one := range found {
		if one != nil {
			out = append(out, *one)
		}
	}
	return out, nil
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
