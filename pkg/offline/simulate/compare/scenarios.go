package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Scenario is a question to Forewarm: what would it take if this were different?
type Scenario struct {
	*Question

	Name string
	// change changes the configuration; nil if nothing is different.
	change func(*Config)
	// play simulates the scenario; nil to simulate what Forewarm serves.
	play func(*plan) (*Outcome, error)
}

// Question is shared by the scenarios that answer it.
type Question struct {
	Title string
	// Notes explain the figures.
	Notes []string
}

// Outcome is the result of Forewarm in a scenario.
type Outcome struct {
	Scenario

	// LeadTime is the median lead time of a replica; Wait is how long demand may wait without being late.
	LeadTime, Wait time.Duration
	// Capacity is what a replica sustains. It has GPUs, each for GPUPrice dollars an hour.
	Capacity, GPUs, GPUPrice float64
	// Dollars are the price of the replica-hours; 0 without a price.
	Dollars float64
	// Asleep are the replica-hours of servers that sleep: of all up to the highest number that was awake.
	Asleep float64
	// Parts are those of the workloads that share the demand; empty if it is one.
	Parts []Part
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
	Report         simulate.Report
}

// Part is the share of one of several workloads.
type Part struct {
	Name         string
	ReplicaHours float64
}

// GPUHours are the GPU-hours of the running replicas.
func (o *Outcome) GPUHours() float64 { return o.Report.ReplicaHours * o.GPUs }

// Asked are the questions beyond the policies. The zero value asks none.
type Asked struct {
	// WhatIf asks for shorter lead times and longer waits.
	WhatIf bool
	// Shapes are other shapes of GPU.
	Shapes []Shape
	// Wake are servers that sleep, if its time is not 0.
	Wake Wake
	// Variants are other workloads that serve the demand, too.
	Variants []Variant
}

// Scenarios returns the scenarios that answer the questions, or every problem with them.
func (a *Asked) Scenarios(c Config) ([]Scenario, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.forewarmAlone()
	var out []Scenario
	var problems []error
	if a.WhatIf {
		out = append(out, c.whatIfs()...)
	}
	for _, s := range a.Shapes {
		out = append(out, s.scenario())
	}
	if a.Wake.Time != 0 {
		problems = append(problems, a.Wake.validate(&c))
		out = append(out, a.Wake.scenarios()...)
	}
	if len(a.Variants) > 0 {
		all := c.withOwn(a.Variants)
		problems = append(problems, validateVariants(&c, all))
		out = append(out, variantScenarios(all)...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for _, s := range out {
		if err := c.changed(s).Validate(); err != nil {
			problems = append(problems, fmt.Errorf("scenario %s: %w", s.Name, err))
		}
	}
	return out, errors.Join(problems...)
}

// Play simulates Forewarm in each scenario, without a warm pool, and returns the outcomes in their order. If the context ends, it
// returns those that are complete. It reports progress as Compare does.
func Play(
	ctx context.Context, c Config, scenarios []Scenario, progress func(done, total int, what string),
) ([]Outcome, error) {
	if len(scenarios) == 0 {
		return nil, nil
	}
	p, err := newPlan(ctx, "scenarios", c.forewarmAlone())
	if err != nil {
		return nil, err
	}
	played, jobs := make([]*Outcome, len(scenarios)), make([]job, len(scenarios))
	for i, s := range scenarios {
		jobs[i] = job{s.Name, forewarmUnits, func(spent func(units int)) (err error) {
			defer spent(forewarmUnits)
			played[i], err = p.with(*p.changed(s)).playScenario(s)
			return err
		}}
	}
	if err = runJobs(ctx, p.Workers, jobs, progress); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, one := range played {
		if one != nil {
			out = append(out, *one)
		}
	}
	return out, nil
}

// forewarmAlone returns the configuration with defaults, with Forewarm as the only policy, and without a warm pool.
func (c *Config) forewarmAlone() Config {
	out := c.withDefaults()
	out.Only, out.Pool = []string{Forewarm}, nil
	return out
}

// changed returns the configuration for a scenario.
func (c *Config) changed(s Scenario) *Config {
	out := *c
	if s.change != nil {
		s.change(&out)
	}
	return &out
}

// playScenario simulates a scenario with its configuration.
func (p *plan) playScenario(s Scenario) (*Outcome, error) {
	play := s.play
	if play == nil {
		play = (*plan).forewarmOutcome
	}
	out, err := play(p)
	if err != nil {
		return nil, err
	}
	out.Scenario, out.LeadTime, out.Wait, out.Capacity = s, p.Lead.Median, p.Wait, p.Capacity
	out.GPUs, out.GPUPrice = p.GPUs, p.GPUPrice
	if len(out.Parts) == 0 {
		out.Dollars = out.GPUHours() * p.GPUPrice
	}
	out.Limited = out.Report.LimitedShare(p.BadHours)
	out.MeetsObjective = out.Report.WorstShare(p.BadHours) <= p.Objective
	return out, nil
}

// forewarmOutcome simulates what Forewarm serves for the objective.
func (p *plan) forewarmOutcome() (*Outcome, error) {
	of, err := p.playForecaster(p.Objective)
	if err != nil {
		return nil, err
	}
	report, err := p.run(of.values[0], p.capacityTarget())
	return &Outcome{Report: report}, err
}

// spareOutcome simulates the observed demand with some additional replicas.
func (p *plan) spareOutcome(spare int) (*Outcome, error) {
	values, err := p.values(simulate.NewObserved())
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] += float64(spare) * p.Capacity
	}
	report, err := p.run(values, p.capacityTarget())
	return &Outcome{Report: report}, err
}

// whatIfs returns the scenarios with a half and a quarter of the lead time and with a lead time of one minute, if these are shorter than
// the configured one, and with waits from 30 s to 5 min that are longer than the configured one.
func (c *Config) whatIfs() []Scenario {
	question := &Question{
		"What would save more",
		[]string{
			"Each row shows the effect of one change. All rows have the same objective, and the last column shows how much of it they use.",
		},
	}
	var out []Scenario
	var leads []time.Duration
	for _, share := range []float64{0.5, 0.25, time.Minute.Seconds() / max(c.Lead.Median.Seconds(), 1)} {
		lead := c.Lead.scaled(share)
		if slices.Contains(leads, lead.Median) || lead.Median >= c.Lead.Median || lead.Median < sync {
			continue
		}
		leads = append(leads, lead.Median)
		change := func(c *Config) {
			c.Lead = lead
			if c.Node != nil {
				node := c.Node.scaled(share)
				c.Node = &node
			}
		}
		out = append(out, Scenario{
			Question: question, Name: "lead time " + c.changed(Scenario{change: change}).leadTimeText(), change: change,
		})
	}
	for _, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute} {
		if wait > c.Wait {
			out = append(out, Scenario{
				Question: question, Name: "wait " + wait.String(), change: func(c *Config) { c.Wait = wait },
			})
		}
	}
	return out
}

// scaled returns a share of a lead time, in whole seconds.
func (l LeadTime) scaled(share float64) LeadTime {
	of := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * share).Round(time.Second)
	}
	return LeadTime{Median: of(l.Median), P90: of(l.P90)}
}

// Shape is a kind of GPU, or a part of one, for the workload. What is 0 stays as configured.
type Shape struct {
	Name string
	// Price of a GPU for an hour in dollars, Capacity and GPUs of a replica.
	Price, Capacity, GPUs float64
}

func (s Shape) scenario() Scenario {
	question := &Question{
		"Other GPU shapes",
		[]string{
			"A shape consists of the GPUs per replica, the hourly price of a GPU, and what a replica sustains. Forewarm assumes the " +
				"same lead time, minReplicas and maxReplicas for all shapes.",
		},
	}
	return Scenario{Question: question, Name: s.Name, change: func(c *Config) {
		c.Capacity, c.GPUs = cmp.Or(s.Capacity, c.Capacity), cmp.Or(s.GPUs, c.GPUs)
		c.GPUPrice = cmp.Or(s.Price, c.GPUPrice)
	}}
}

// Wake describes servers that sleep and take a known time to wake up, for example with vLLM's sleep mode.
type Wake struct {
	Time time.Duration
	// Spare replicas are awake beyond the observed demand, for a policy without a forecast; 0 for no such policy.
	Spare int
}

func (w Wake) validate(c *Config) error {
	if w.Time <= 0 || w.Time > c.Lead.Median || w.Spare < 0 {
		return fmt.Errorf(
			"a wake time of %s with %d spare replicas; expected a wake time above 0 and at most the lead time "+
				"of %s, and 0 or more spare replicas",
			w.Time,
			w.Spare,
			c.Lead.Median,
		)
	}
	return nil
}

// scenarios returns Forewarm, and spare replicas without a forecast. A sleeping server keeps its node.
func (w Wake) scenarios() []Scenario {
	question := &Question{
		"Servers that sleep",
		[]string{
			"The simulation has as many servers as were ever awake at the same time. Those that are not awake are asleep. Sleeping " +
				"servers are cheaper than servers that start if a GPU-hour asleep costs less than the share in \"pays below\" of a " +
				"GPU-hour awake. A sleeping server that has a GPU to itself costs the full price of the GPU. Several sleeping servers " +
				"on one GPU share its price.",
		},
	}
	add := func(name string, play func(*plan) (*Outcome, error)) Scenario {
		return Scenario{
			Question: question, Name: name + ", wakes in " + w.Time.String(),
			change: func(c *Config) { c.Lead, c.Node = LeadTime{Median: w.Time}, nil },
			play: func(p *plan) (*Outcome, error) {
				out, err := play(p)
				if err == nil {
					out.Asleep = float64(out.Report.Peak)*out.Report.Duration.Hours() - out.Report.ReplicaHours
				}
				return out, err
			},
		}
	}
	out := []Scenario{add(Forewarm, (*plan).forewarmOutcome)}
	if w.Spare > 0 {
		out = append(out, add(fmt.Sprintf("the demand and %d awake", w.Spare),
			func(p *plan) (*Outcome, error) { return p.spareOutcome(w.Spare) }))
	}
	return out
}
