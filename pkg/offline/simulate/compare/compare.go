package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Compare simulates every policy on the history. It reports progress in units of work of about equal length, with the
// current task; progress may be nil and is never called concurrently. If the context ends, Compare returns what is
// complete, marked as partial, or the context's error if nothing is. The same Config gives the same Comparison to the
// last bit, whatever the number of workers.
func Compare(ctx context.Context, c Config, progress func(done, total int, what string)) (*Comparison, error) {
	p, err := newPlan(ctx, "compare", c)
	if err != nil {
		return nil, err
	}
	if err = runJobs(ctx, p.Workers, p.jobs(), progress); err != nil {
		return nil, err
	}
	out := p.comparison()
	out.Partial = ctx.Err() != nil
	if len(out.Policies) == 0 {
		return nil, fmt.Errorf("compare: interrupted before any policy was simulated: %w", context.Cause(ctx))
	}
	out.Assumptions.CapacityAssumed = c.Capacity == 0
	out.WarmPool = p.poolResult(out)
	out.Doubt = cmp.Or(c.Doubt, p.doubt())
	if out.NoVerdict = cmp.Or(out.Doubt, c.TooShort); out.NoVerdict == "" {
		if out.Judged, err = p.judge(ctx); err != nil {
			return nil, err
		}
		out.Verdict = out.verdict()
	} else if out.WarmPool != nil {
		out.WarmPool.Verdict = ""
	}
	out.Notes = p.notes(out)
	return out, nil
}

// plan has what is simulated, and the results so far. Every job writes to its own fields.
type plan struct {
	Config
	history

	// asWritten is the result of the autoscaler as it is. sweeps are the policies with the best target in hindsight, in the order of
	// hindsightPolicies.
	asWritten *PolicyResult
	sweeps    []*sweep
	// forewarm is the result for the objective, served has the values that Forewarm served, and others has the results for other objectives.
	forewarm *PolicyResult
	served   *servedRecorder
	others   []objectiveResult
	// pool is nil without a pool.
	pool *poolRun
}

// objectiveResult has the values that Forewarm served for another objective, and the result.
type objectiveResult struct {
	objective float64
	values    []float64
	report    simulate.Report
}

// newPlan checks a configuration, applies its defaults and loads its history. what is for the error.
func newPlan(ctx context.Context, what string, c Config) (*plan, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	p := &plan{Config: c.withDefaults()}
	var err error
	if p.history, err = p.loadHistory(); err != nil {
		return nil, err
	}
	p.done = ctx.Done()
	return p, nil
}

// with returns a plan for the same history with another configuration.
func (p *plan) with(c Config) *plan { return &plan{Config: c, history: p.history} }

// errInterrupted ends a job whose result is no longer needed.
var errInterrupted = errors.New("interrupted")

func (h *history) interrupted() error {
	select {
	case <-h.done:
		return errInterrupted
	default:
		return nil
	}
}

// comparison returns the complete results in the order of the policies' names.
func (p *plan) comparison() *Comparison {
	out := &Comparison{Assumptions: p.assumptions()}
	add := func(one *PolicyResult) {
		if one != nil {
			out.Policies = append(out.Policies, *one)
		}
	}
	add(p.asWritten)
	for i, r := range hindsightPolicies() {
		if r.name == Oracle {
			add(p.forewarm)
		}
		if s := p.sweeps[i]; s != nil {
			add(s.best)
		}
	}
	return out
}

func (p *plan) assumptions() Assumptions {
	return Assumptions{
		Source:      p.Source,
		Start:       p.demand.Start,
		Duration:    p.span(),
		Step:        p.recorded.Step,
		WarmUp:      p.warmUp,
		Gaps:        p.missing,
		Autoscaler:  p.Autoscaler,
		Target:      inUnits(p.target()),
		Capacity:    p.Capacity,
		MinReplicas: p.HPA.Min,
		MaxReplicas: p.HPA.Max,
		LeadTime:    p.leadTimeText(),
		Objective:   p.Objective,
		BadHours:    p.BadHours,
		Wait:        p.Wait,
		Deferrable:  p.Deferrable,
		Deadline:    p.Deadline,
		GPUs:        p.GPUs,
		GPUPrice:    p.GPUPrice,
	}
}

// inUnits converts a target from thousandths.
func inUnits(milli int64) float64 { return float64(milli) / 1000 }

// Find returns a policy of a comparison, or nil if it was not played.
func (c *Comparison) Find(name string) *PolicyResult {
	i := slices.IndexFunc(c.Policies, func(p PolicyResult) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Policies[i]
}

// joinSentences joins the texts that are not empty.
func joinSentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}
