// Package fleet plays several recorded workloads, the members, on a fixed number of GPUs together with batch work that is always
// there. It compares who gets the GPUs when:
//
//	static    the members have the smallest part of the GPUs that is enough in hindsight, batch work has the rest
//	reactive  batch work takes every free GPU, and its newest runs are killed when replicas of members wait
//	forewarm  batch work starts what Forewarm's plan allows, and is killed in the same way where the plan was wrong
//	oracle    the same, with a plan that knows what the members will ask for
package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// Config is a fleet and the history of its members.
type Config struct {
	GPUs    float64
	Members []Member
	Batch   []fleet.Consumer
	// Limit is the share of the members' demand that may arrive in bad hours in the static partition.
	Limit float64
	// Record gets each step of all policies but static; it may be nil.
	Record func(Moment)
}

// Moment is what a policy does with the GPUs at a step.
type Moment struct {
	Policy string
	At     time.Time
	// Members and Batch are the GPUs that members and batch runs hold.
	Members, Batch float64
	// Started and Killed are the batch runs that started and were killed at this step.
	Started, Killed int
}

// Member is a workload and what Forewarm knew and served of it. The histories of all members start at the same time.
type Member struct {
	Name string
	// GPUs of a replica.
	GPUs float64
	*compare.Recording
}

// warmUp is simulated and not counted: a plan needs two days of each member's history, and measures its margin on a third.
const warmUp = 3 * 24 * time.Hour

// The policies.
const (
	Static   = "static"
	Reactive = "reactive"
	Forewarm = "forewarm"
	Oracle   = "oracle"
)

// Policies returns all policies, in the order in which they are simulated.
func Policies() []string { return []string{Static, Reactive, Forewarm, Oracle} }

// Result compares the policies.
type Result struct {
	GPUs float64 `json:"gpus"`
	// Limit is the share of the members' demand that may be in bad hours.
	Limit float64 `json:"objective"`
	// Members are the names of the members, and Hours the counted hours.
	Members []string `json:"members"`
	Hours   float64  `json:"hours"`
	// Static are the GPUs of the members in the static partition.
	Static float64 `json:"staticMembersGPUs"`
	// Asked are the most GPUs that the members ask for together. AloneBadHours is the share of their demand in bad hours if they get them.
	Asked         float64   `json:"maxAskedGPUs"`
	AloneBadHours float64   `json:"aloneBadHoursShare"`
	Outcomes      []Outcome `json:"policies"`
	// Doubt says what is wrong with the histories; empty if they look like demand. It replaces the verdict.
	Doubt string `json:"doubt,omitempty"`
}

// Outcome is what becomes of the members and the batch work with a policy.
type Outcome struct {
	Policy string `json:"policy"`
	// BadHours is the share of the members' demand in bad hours, each member weighted with the GPUs of its replicas.
	BadHours float64 `json:"badHoursShare"`
	// Done are the GPU-hours of batch runs that ended, Killed those that runs had used when they were killed.
	Done   float64 `json:"batchGPUHours"`
	Killed float64 `json:"killedGPUHours"`
	// Runs is how many runs started, KilledRuns how many were killed.
	Runs       int `json:"runs"`
	KilledRuns int `json:"killedRuns"`
	// Worst is the bad hour with the most late demand; nil without a bad hour.
	Worst *WorstHour `json:"worstHour,omitempty"`
}

// WorstHour is a bad hour of a member. Late is the share of its demand that was late.
type WorstHour struct {
	Member string    `json:"member"`
	Start  time.Time `json:"start"`
	Late   float64   `json:"lateShare"`

	gpuHours float64
}

// Find returns the outcome of a policy.
func (r *Result) Find(policy string) *Outcome {
	return &r.Outcomes[slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Policy == policy })]
}

// Simulate plays all policies. progress is called before each and may be nil. The errors are those of Validate.
func Simulate(ctx context.Context, c *Config, progress func(policy string)) (*Result, error) {
	asked, err := c.asked()
	if err != nil {
		return nil, err
	}
	static, alone, err := c.smallestStatic(asked)
	if err != nil {
		return nil, err
	}
	out := &Result{
		GPUs: c.GPUs, Limit: c.Limit, Static: min(static, c.GPUs), Asked: slices.Max(asked), AloneBadHours: alone,
		Hours: (time.Duration(c.steps())*sim.DefaultSync - warmUp).Hours(),
	}
	for i := range c.Members {
		out.Members = append(out.Members, c.Members[i].Name)
	}
	for _, policy := range Policies() {
		if progress != nil {
			progress(policy)
		}
		b := &batch{Config: c, from: c.start().Add(warmUp), stopped: func() bool { return ctx.Err() != nil }}
		b.Policy = policy
		gpus := c.GPUs
		switch policy {
		case Static:
			gpus, b.allowed = out.Static, nil
		case Reactive:
			b.allowed = c.reactive
		case Forewarm:
			b.allowed = c.planned()
		case Oracle:
			b.allowed = c.oracle(asked)
		}
		reports, err := c.play(gpus, b, nil)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		b.judge(c.Members, reports)
		if policy == Static {
			b.fill(out.Static, out.Hours)
		}
		out.Outcomes = append(out.Outcomes, b.Outcome)
	}
	return out, nil
}

func (c *Config) start() time.Time { return c.Members[0].Demand.Start }

// steps is the length of the shortest history.
func (c *Config) steps() int {
	n := math.MaxInt
	for i := range c.Members {
		n = min(n, c.Members[i].Demand.Len())
	}
	return n
}

// Validate returns every problem.
func (c *Config) Validate() error {
	if len(c.Members) == 0 || len(c.Batch) == 0 || !(c.GPUs > 0) {
		return fmt.Errorf("%d members and %d consumers on %v GPUs: a fleet needs all of them",
			len(c.Members), len(c.Batch), c.GPUs)
	}
	problems := []error{CheckLength(time.Duration(c.steps()) * sim.DefaultSync)}
	tooLarge := func(name string, gpus float64) {
		if gpus > c.GPUs {
			problems = append(problems, fmt.Errorf("a replica of %s needs %s GPUs, but the fleet has only %s",
				name, humanize.Number(gpus), humanize.Number(c.GPUs)))
		}
	}
	for _, b := range c.Batch {
		tooLarge(b.Name, b.GPUs)
	}
	for i := range c.Members {
		m := &c.Members[i]
		tooLarge(m.Name, m.GPUs)
		if !m.Demand.Start.Equal(c.start()) {
			problems = append(problems, fmt.Errorf("the histories of %s and %s start at different times",
				c.Members[0].Name, m.Name))
		}
	}
	return errors.Join(problems...)
}

// CheckLength reports a history of all members that is too short to judge a fleet.
func CheckLength(common time.Duration) error {
	const day = 24 * time.Hour
	if least := warmUp + day; common < least-time.Hour {
		return fmt.Errorf("the members have %.1f days of history in common: a fleet needs at least %d, "+
			"and two weeks to show how weeks repeat", max(0, common).Hours()/24, least/day)
	}
	return nil
}

// milli is how many simulated places a GPU has, so that replicas may take a part of one.
const milli = 1000

func places(gpus float64) int { return int(math.Round(gpus * milli)) }

// play plays the members on a number of GPUs. record gets every step of every member; it may be nil.
func (c *Config) play(
	gpus float64, pool *batch, record func(member int, s sim.StepResult),
) ([]simulate.Report, error) {
	of := simulate.Config{WarmUp: warmUp}
	if pool != nil && pool.allowed != nil {
		of.Pool = pool
	}
	var runs []simulate.PolicyRun
	for i := range c.Members {
		m := &c.Members[i]
		spec, demand := m.Spec, m.Demand
		spec.Nodes, spec.Places = &sim.Nodes{Places: max(places(gpus), 1)}, places(m.GPUs)
		demand.Values = demand.Values[:c.steps()]
		run := simulate.PolicyRun{Demand: demand, Policy: simulate.NewTape(m.Served), Spec: &spec}
		if record != nil {
			run.Record = func(s sim.StepResult) { record(i, s) }
		}
		runs = append(runs, run)
	}
	return simulate.RunTogether(of, runs)
}

// asked returns the GPUs that the members ask for at each step. It does not depend on the batch work.
func (c *Config) asked() ([]float64, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	out := make([]float64, c.steps())
	_, err := c.play(c.GPUs, nil, func(member int, s sim.StepResult) {
		out[int(s.At.Sub(c.start())/sim.DefaultSync)] += c.Members[member].GPUs * float64(s.Replicas)
	})
	return out, err
}

// SmallestStatic returns the smallest whole number of GPUs for the members with which they keep the limit. If they do not keep it with
// all that they ask for, it is the smallest number with which they are no worse.
func (c *Config) SmallestStatic() (float64, error) {
	asked, err := c.asked()
	if err != nil {
		return 0, err
	}
	gpus, _, err := c.smallestStatic(asked)
	return gpus, err
}

// smallestStatic also returns the share of the members' demand in bad hours if they get all that they ask for.
func (c *Config) smallestStatic(asked []float64) (gpus, alone float64, err error) {
	badHours := func(gpus int) float64 {
		reports, failed := c.play(float64(gpus), nil, nil)
		err = errors.Join(err, failed)
		var o Outcome
		o.judge(c.Members, reports)
		return o.BadHours
	}
	low, high := 1, int(math.Ceil(slices.Max(asked)))
	alone = badHours(high)
	for low < high && err == nil {
		if middle := (low + high) / 2; badHours(middle) <= max(alone, c.Limit) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return float64(low), alone, err
}

// judge sets the figures of the members.
func (o *Outcome) judge(members []Member, reports []simulate.Report) {
	arrived, bad := 0.0, 0.0
	for i := range reports {
		hours, gpus := &reports[i].BadHours, members[i].GPUs
		arrived += gpus * hours.Arrived
		bad += gpus * hours.Bad
		for _, h := range hours.List {
			if late := gpus * h.Late; o.Worst == nil || late > o.Worst.gpuHours {
				o.Worst = &WorstHour{members[i].Name, h.Start, h.Late / h.Arrived, late}
			}
		}
	}
	if arrived > 0 {
		o.BadHours = bad / arrived
	}
}
