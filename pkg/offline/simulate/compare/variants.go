package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/variant"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Variant is another workload that serves a demand, beside the one that it was recorded of.
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

// VariantResult is what a demand takes on one variant, or on all of them.
type VariantResult struct {
	// Name of the variant that has all of the demand; empty for all variants together.
	Name string
	// Dollars for all replica-hours, and the replica-hours of each variant, in the order of the names.
	Dollars      float64
	ReplicaHours []float64
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
	// ChurnPerHour is how many replicas were started or stopped in an hour.
	ChurnPerHour float64
}

// VariantsResult compares all variants together, the first of the Results, with each of them alone. The Config's own is the first of them.
type VariantsResult struct {
	Names []string
	// Demand is in replica-hours of the Config's own.
	Demand  float64
	Results []VariantResult
}

// Together is the result of all variants together.
func (r *VariantsResult) Together() *VariantResult { return &r.Results[0] }

// ownVariant is the name of the Config's own workload. Another variant cannot have it.
const ownVariant = "own"

// Variants simulates Forewarm with the demand shared out among the Config's own workload and others, and with all of it on each alone. A
// pool, nodes and work that may wait are left out. It reports progress as Compare does. If the context ends, it returns the context's error.
func Variants(
	ctx context.Context, c Config, others []Variant, progress func(done, total int, what string),
) (*VariantsResult, error) {
	p, err := newPlainPlan(ctx, "variants", c)
	if err != nil {
		return nil, err
	}
	all := p.withOwn(others)
	if err = validateVariants(&p.Config, all); err != nil {
		return nil, err
	}
	out := &VariantsResult{Demand: p.demandHours(), Results: make([]VariantResult, 1+len(all))}
	jobs := []job{scenarioJob("variants together", func() (err error) {
		out.Results[0], err = p.together(all)
		return err
	})}
	for i := range all {
		out.Names = append(out.Names, all[i].Name)
		jobs = append(jobs, scenarioJob("all on "+all[i].Name, func() (err error) {
			out.Results[1+i], err = p.alone(all, i)
			return err
		}))
	}
	if err = errors.Join(runJobs(ctx, p.Workers, jobs, progress), context.Cause(ctx)); err != nil {
		return nil, err
	}
	return out, nil
}

// demandHours is the demand that counts, in replica-hours.
func (p *plan) demandHours() (sum float64) {
	for _, v := range p.demand.Values[min(stepsOf(p.warmUp), p.demand.Len()):] {
		if v > 0 {
			sum += v / p.Capacity * sync.Hours()
		}
	}
	return sum
}

// withOwn are the Config's own workload and the others, with defaults.
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
		wrong("variants without a price of a GPU: nothing says which is cheaper")
	}
	if len(all) > variant.Most {
		wrong("%d variants with its own, want at most %d", len(all), variant.Most)
	}
	for i := range all {
		v := &all[i]
		spec := c.variantSpec(v)
		if slices.ContainsFunc(all[:i], func(o Variant) bool { return o.Name == v.Name }) {
			wrong("two variants %s, want other names", v.Name)
		}
		if err := spec.Validate(sync); err != nil {
			wrong("variant %s: %w", v.Name, err)
		}
	}
	return errors.Join(problems...)
}

// variantHPA is the Config's autoscaler between the limits of a variant.
func (c *Config) variantHPA(v *Variant) hpa.Spec {
	out := c.HPA
	out.Min, out.Max = max(v.Min, 1), v.Max
	out.Metrics = []hpa.Metric{c.HPA.Metrics[0]}
	out.Metrics[0].Target = max(int64(math.Round(v.Capacity*1000)), 1)
	return out
}

// variantLead is the lead time of a variant: of its own workload with its spread.
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

// alone plays all of the demand on the i-th variant.
func (p *plan) alone(all []Variant, i int) (VariantResult, error) {
	v := &all[i]
	c := p.Config
	c.Lead, c.Capacity, c.HPA = p.variantLead(v), v.Capacity, p.variantHPA(v)
	served, err := p.with(c).playForecaster(p.Objective)
	if err != nil {
		return VariantResult{}, err
	}
	values := served.values[0]
	out, err := p.playVariants(all[i:i+1], func(step int) []float64 { return values[step : step+1] })
	out.Name = v.Name
	hours := make([]float64, len(all))
	copy(hours[i:], out.ReplicaHours)
	out.ReplicaHours = hours
	return out, err
}

// together plays the demand shared out among all variants.
func (p *plan) together(all []Variant) (VariantResult, error) {
	var shared []variant.Variant
	for i := range all {
		v := &all[i]
		shared = append(shared, variant.Variant{
			Name: v.Name, HPA: p.variantHPA(v), Price: v.Price, Lead: p.variantLead(v).planned(), Sleeps: v.Min == 0,
		})
	}
	c := p.Config
	c.HPA = variant.Whole(shared)
	served, err := p.with(c).playForecaster(p.Objective)
	if err != nil {
		return VariantResult{}, err
	}
	planner, err := variant.NewPlanner(shared, p.demand.Start, Step)
	if err != nil {
		return VariantResult{}, err
	}
	parts := make([]float64, len(all))
	return p.playVariants(all, func(step int) []float64 {
		value := served.values[0][step]
		switch {
		case step%int(Step/sync) != 0:
		case math.IsNaN(value):
			for i := range parts {
				parts[i] = value
			}
		default:
			for i, part := range planner.Step(value).Share(value) {
				parts[i] = part.Value
			}
		}
		return parts
	})
}

// playVariants plays values for variants.
func (p *plan) playVariants(all []Variant, values func(step int) []float64) (VariantResult, error) {
	f := simulate.Fleet{Demand: p.demand, WarmUp: stepsOf(p.warmUp), Initial: make([]float64, len(all))}
	f.Initial[0] = p.demand.Values[0]
	for i := range all {
		f.Specs = append(f.Specs, p.variantSpec(&all[i]))
	}
	report, each, err := f.Run(values)
	if err != nil {
		return VariantResult{}, err
	}
	out := VariantResult{
		Limited: report.LimitedShare(p.BadHours), ChurnPerHour: report.ChurnPerHour(),
		MeetsObjective: report.LimitedShare(p.BadHours) <= p.Objective,
	}
	for i := range each {
		out.ReplicaHours = append(out.ReplicaHours, each[i].ReplicaHours)
		out.Dollars += each[i].ReplicaHours * all[i].Price
	}
	return out, p.interrupted()
}
