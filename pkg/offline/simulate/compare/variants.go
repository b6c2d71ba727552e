package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/variant"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Variant is another workload that serves a demand, in addition to the one that it was recorded of.
type Variant struct {
	Name string
	// Lead is how long a replica takes to start.
	Lead time.Duration
	// Price of a replica for an hour in dollars, 0 for that of the workload.
	Price float64
	// Capacity is what a replica sustains; 0 for what one of the workload does. Min and Max are its replicas.
	Capacity float64
	Min, Max int32
	// Interruptions is how often a replica is lost in an hour, as on spot.
	Interruptions float64
}

// ownVariant is the name of the Config's own workload. Another variant cannot have it.
const ownVariant = "own"

// variantScenarios returns a scenario in which the demand is shared out among all variants, and one for each other variant with all of the
// demand. There is none for the workload's own variant, which is simulated anyway. Nodes are left out.
func variantScenarios(all []Variant) []Scenario {
	question := &Question{
		"Variants",
		[]string{
			"Forewarm fills the cheapest variant first. A variant that takes longer to start than the workload itself (own) serves " +
				"the lasting demand, and the other variants serve the demand while it starts. Forewarm assumes that interruptions " +
				"are independent of each other.",
		},
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	out := []Scenario{{
		Question: question, Name: strings.Join(names, " and "), change: func(c *Config) { c.Node = nil },
		play: func(p *plan) (*Outcome, error) { return p.variantsOutcome(all) },
	}}
	for _, v := range all[1:] {
		out = append(out, Scenario{Question: question, Name: v.Name + " alone", change: func(c *Config) {
			c.Node, c.GPUPrice, c.interruptions = nil, v.Price/c.GPUs, v.Interruptions
			c.Lead, c.Capacity, c.HPA = c.variantLead(&v), v.Capacity, c.variantHPA(&v)
		}})
	}
	return out
}

// withOwn returns the Config's own workload and the other variants, with defaults.
func (c *Config) withOwn(others []Variant) []Variant {
	out := []Variant{
		{
			Name:     ownVariant,
			Lead:     c.Lead.Median,
			Price:    c.GPUs * c.GPUPrice,
			Capacity: c.Capacity,
			Min:      c.HPA.Min,
			Max:      c.HPA.Max,
		},
	}
	for _, v := range others {
		v.Price, v.Capacity = cmp.Or(v.Price, out[0].Price), cmp.Or(v.Capacity, c.Capacity)
		out = append(out, v)
	}
	return out
}

func validateVariants(c *Config, all []Variant) error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.GPUPrice == 0 {
		wrong("variants need the price of a GPU, because the price decides which variant is filled first")
	}
	if c.Deferrable > 0 {
		wrong("variants and work that may wait cannot be simulated together: simulate one of them at a time")
	}
	if len(all) > variant.Most {
		wrong("%d variants, including the workload itself; expected at most %d", len(all), variant.Most)
	}
	for i := range all {
		v := &all[i]
		spec := c.variantSpec(v)
		if slices.ContainsFunc(all[:i], func(o Variant) bool { return o.Name == v.Name }) {
			wrong("two variants have the name %s; use different names", v.Name)
		}
		if err := spec.Validate(sync); err != nil {
			wrong("variant %s: %w", v.Name, err)
		}
	}
	return errors.Join(problems...)
}

// variantHPA returns the Config's autoscaler with the limits of a variant.
func (c *Config) variantHPA(v *Variant) hpa.Spec {
	out := c.HPA
	out.Min, out.Max, out.Cluster.ScaleToZero = max(v.Min, 1), v.Max, false
	out.Metrics = []hpa.Metric{c.HPA.Metrics[0]}
	out.Metrics[0].Target = max(int64(math.Round(v.Capacity*1000)), 1)
	return out
}

// variantLead returns the lead time of a variant. For the own workload, it has its spread.
func (c *Config) variantLead(v *Variant) LeadTime {
	if v.Name == ownVariant {
		return c.Lead
	}
	return LeadTime{Median: v.Lead}
}

func (c *Config) variantSpec(v *Variant) sim.Spec {
	return sim.Spec{
		Capacity: v.Capacity, HPA: c.variantHPA(v), PodLead: c.variantLead(v).pods(), Sync: sync, Wait: c.Wait,
		Interruptions: v.Interruptions,
	}
}

// variantsOutcome simulates the demand shared out among the variants.
func (p *plan) variantsOutcome(all []Variant) (*Outcome, error) {
	var shared []variant.Variant
	f := simulate.Fleet{Demand: p.demand, WarmUp: stepsOf(p.warmUp), Initial: make([]float64, len(all))}
	f.Initial[0] = p.demand.Values[0]
	for i := range all {
		v := &all[i]
		shared = append(shared, variant.Variant{
			Name:         v.Name,
			HPA:          p.variantHPA(v),
			Price:        v.Price,
			Lead:         p.variantLead(v).planned(),
			ScalesToZero: v.Min == 0,
		})
		f.Specs = append(f.Specs, p.variantSpec(v))
	}
	c := p.Config
	c.HPA = variant.Whole(shared)
	served, err := p.with(c).playForecaster(p.Objective)
	if err != nil {
		return nil, err
	}
	planner, err := variant.NewPlanner(shared, p.demand.Start, Step)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(shared))
	out := &Outcome{}
	var each []simulate.Report
	out.Report, each, err = f.Run(func(step int) []float64 {
		value := served.values[0][step]
		switch {
		case step%int(Step/sync) != 0:
		case math.IsNaN(value):
			for i := range values {
				values[i] = value
			}
		default:
			for i, part := range planner.Step(value).Share(value) {
				values[i] = part.Value
			}
		}
		return values
	})
	for i := range each {
		out.Parts = append(out.Parts, Part{all[i].Name, each[i].ReplicaHours})
		out.Dollars += each[i].ReplicaHours * all[i].Price
	}
	return out, errors.Join(err, p.interrupted())
}
