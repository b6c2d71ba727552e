package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

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
		return nil, fmt.Errorf(
			"a wake time of %s and %d spare replicas, want up to the lead time %s, and 0 or more",
			w.Time,
			w.Spare,
			c.Lead.Median,
		)
	}
	slow, err := newPlainPlan(ctx, "wakes", c)
	if err != nil {
		return nil, err
	}
	fast := &plan{Config: slow.Config, history: slow.history}
	fast.Lead = LeadTime{Median: w.Time}
	out := &WakesResult{Wake: w, Demand: slow.demandHours(), Wakes: make([]WakeResult, 1, 2)}
	forewarm := func(p *plan, to *WakeResult, policy string) func(spent func()) error {
		return func(spent func()) error {
			defer repeat(forewarmUnits, spent)
			of, problem := p.playForecaster(&p.Config, nil, p.Objective)
			if problem == nil {
				*to, problem = p.wake(policy, of.values[0])
			}
			return problem
		}
	}
	jobs := []job{
		{"servers that start", forewarmUnits, forewarm(slow, &out.Starts, "forewarm, starts in "+slow.leadTimeText())},
		{"servers that wake", forewarmUnits, forewarm(fast, &out.Wakes[0], "forewarm, wakes in "+w.Time.String())},
	}
	err = errors.Join(runJobs(ctx, slow.Workers, jobs, progress), context.Cause(ctx))
	if err != nil || w.Spare == 0 {
		return out, err
	}
	values, err := fast.values(simulate.NewObserved())
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] += float64(w.Spare) * fast.Capacity
	}
	spare, err := fast.wake(fmt.Sprintf("the demand and %d awake, wakes in %s", w.Spare, w.Time), values)
	out.Wakes = append(out.Wakes, spare)
	return out, err
}

// wake plays values on servers that wake within the lead time.
func (p *plan) wake(policy string, values []float64) (WakeResult, error) {
	report, err := simulate.Run(p.config(&p.Config, p.capacityTarget()), simulate.NewTape(values))
	return WakeResult{
		Policy:         policy,
		Awake:          report.ReplicaHours,
		Asleep:         float64(report.Peak)*report.Duration.Hours() - report.ReplicaHours,
		Limited:        report.LimitedShare(p.BadHours),
		MeetsObjective: report.LimitedShare(p.BadHours) <= p.Objective,
	}, errors.Join(err, p.interrupted())
}
