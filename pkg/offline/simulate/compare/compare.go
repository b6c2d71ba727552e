package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
)

// Compare plays the history to every policy. It says now and then how far it is, in units of work that are about alike, and
// what it is at; progress may be nil and is never called twice at once. Where the context ends it returns what is complete,
// marked as partial, or the context's error where not even the autoscaler as written is. The same Config gives the same
// Comparison to the last bit, however many workers there are.
func Compare(ctx context.Context, c Config, progress func(done, total int, what string)) (*Comparison, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	assumed := c.Capacity == 0
	c = c.filled()
	h, err := c.read()
	if err != nil {
		return nil, err
	}
	h.done = ctx.Done()
	p := &plan{Config: c, history: h}
	if err := do(ctx, c.Workers, p.jobs(), progress); err != nil {
		return nil, err
	}
	out := p.comparison()
	out.Partial = ctx.Err() != nil
	if len(out.Policies) == 0 {
		return nil, fmt.Errorf("compare: interrupted before anything was played: %w", context.Cause(ctx))
	}
	out.Assumptions.CapacityAssumed = assumed
	out.Notes = p.notes(out)
	out.Verdict = out.verdict()
	out.Warm = p.warmed(out)
	return out, nil
}

// plan is what is to be played, and what came of it so far. Every job writes into fields of its own.
type plan struct {
	Config
	history

	// written is the autoscaler as it is; rivals are played with the best target in hindsight, in the order of rivals().
	written *Policy
	rivals  []*sweep
	// unfit are the models that could not be fitted once.
	unfit []bool
	// forewarm is it for the objective, with what it says itself at the end; others are what other objectives cost.
	forewarm *Policy
	says     *outcome.Report
	others   []*Point
	// warm is nil without a pool.
	warm *warming
}

// interrupted ends a job whose result would be of no use.
var errInterrupted = errors.New("interrupted")

func (h *history) interrupted() error {
	select {
	case <-h.done:
		return errInterrupted
	default:
		return nil
	}
}

// comparison holds what is complete, in the order of the names.
func (p *plan) comparison() *Comparison {
	out := &Comparison{Assumptions: p.assumptions()}
	add := func(one *Policy) {
		if one != nil {
			out.Policies = append(out.Policies, *one)
		}
	}
	add(p.written)
	for i, r := range rivals() {
		if r.name == Oracle {
			add(p.withFrontier())
		}
		if s := p.rivals[i]; s != nil {
			add(s.policy(r.name))
		}
	}
	return out
}

// withFrontier is forewarm, with what it would have cost for other objectives, as far as they were played.
func (p *plan) withFrontier() *Policy {
	if p.forewarm == nil {
		return nil
	}
	points := []Point{pointOf(p.Objective, &p.forewarm.Report)}
	for _, o := range p.others {
		if o != nil {
			points = append(points, *o)
		}
	}
	p.forewarm.Frontier = front(points)
	return p.forewarm
}

func (p *plan) assumptions() Assumptions {
	return Assumptions{
		Source: p.Source, Start: p.demand.Start, Duration: p.span(), Step: p.recorded.Step, WarmUp: p.warmUp,
		Gaps: p.missing, Autoscaler: p.Autoscaler, Target: inUnits(p.target()), Capacity: p.Capacity,
		MinReplicas: p.HPA.Min, MaxReplicas: p.HPA.Max, LeadTime: p.leadTime(), Objective: p.Objective, Wait: p.Wait,
		GPUs: p.GPUs, GPUPrice: p.GPUPrice,
	}
}

// inUnits is a target of milli-units in the metric's.
func inUnits(milli int64) float64 { return float64(milli) / 1000 }

// named is a policy of a comparison; nil where it was not played.
func (c *Comparison) named(name string) *Policy {
	i := slices.IndexFunc(c.Policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Policies[i]
}

// sentences joins what is not empty.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}
