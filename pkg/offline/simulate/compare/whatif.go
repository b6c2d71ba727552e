package compare

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// WhatIf is what Forewarm would take for the same objective if one thing were different.
type WhatIf struct {
	// Change is the difference in words: "lead time 2m30s", or "wait 1m0s".
	Change string
	// LeadTime is the median lead time of a replica; Wait is how long demand may wait without being late.
	LeadTime, Wait time.Duration
	// ReplicaHours that are paid for.
	ReplicaHours float64
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
}

// WhatIfs simulates Forewarm with a half and a quarter of the lead time and with one minute, and with waits of 30 s to
// 5 min, without a warm pool. It returns those that are shorter, or longer, than the configured ones, the cheapest first.
// If the context ends, it returns what is complete. It reports progress as Compare does.
func WhatIfs(ctx context.Context, c Config, progress func(done, total int, what string)) ([]WhatIf, error) {
	base, err := newPlan(ctx, "what if", c)
	if err != nil {
		return nil, err
	}
	changed, changes := base.whatIfs()
	found := make([]*WhatIf, len(changed))
	jobs := make([]job, len(changed))
	for i := range changed {
		p := &plan{Config: changed[i], history: base.history}
		jobs[i] = job{Forewarm + " with " + changes[i], forewarmUnits, func(spent func()) error {
			if err := p.playForewarm(p.forewarmValues, spent); err != nil {
				return err
			}
			r := p.forewarm
			found[i] = &WhatIf{
				Change:         changes[i],
				LeadTime:       p.Lead.Median,
				Wait:           p.Wait,
				ReplicaHours:   r.Report.ReplicaHours,
				Limited:        r.Report.LimitedShare(p.BadHours),
				MeetsObjective: r.MeetsObjective,
			}
			return nil
		}}
	}
	if err := runJobs(ctx, base.Workers, jobs, progress); err != nil {
		return nil, err
	}
	var out []WhatIf
	for _, one := range found {
		if one != nil {
			out = append(out, *one)
		}
	}
	slices.SortStableFunc(out, func(a, b WhatIf) int { return cmp.Compare(a.ReplicaHours, b.ReplicaHours) })
	return out, nil
}

// whatIfs returns the changed configurations, and each change in words.
func (c *Config) whatIfs() (changed []Config, changes []string) {
	base := *c
	base.Only, base.Pool = []string{Forewarm}, nil
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
