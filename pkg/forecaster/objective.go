package forecaster

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/decide/ahead"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/workload"
)

// refitShape is how often the shape is fitted while a history is replayed. At its end it is fitted once more, and anew at
// every rebuild.
const refitShape = 24 * time.Hour

// newObjective is what decides for an objective or at a cost ratio; nil where neither is asked for, or nothing reads the
// value.
func newObjective(c Config, start time.Time) (*outcome.Objective, error) {
	if !c.Policy.ByOutcome() || len(c.Scalings) == 0 {
		return nil, nil //nolint:nilnil // There is none.
	}
	of := outcome.Config{
		Shape: shape.Config{Step: c.Step, Window: c.Window, Season: c.cycle()},
		Lead:  c.Policy.Lead, Late: c.Policy.Late, Price: c.Policy.CostRatio, Start: start, Refit: refitShape,
	}
	for _, named := range ahead.Models(c.Step, c.Window, c.cycle()) {
		if len(c.Models) > 0 && !slices.ContainsFunc(c.Models, func(name string) bool { return is(name, named.Name) }) {
			continue
		}
		model, err := ahead.New(named.Config)
		if err != nil {
			return nil, err
		}
		if named.Feature {
			of.Shape.Models, of.Models = append(of.Shape.Models, named.Name), append(of.Models, model)
		} else {
			of.Alone = append(of.Alone, outcome.Named{Name: named.Name, Forecaster: model})
		}
	}
	for _, s := range c.Scalings {
		of.Autoscalers = append(of.Autoscalers, outcome.Autoscaler{By: s.By, Spec: workload.Spec{
			Capacity: s.Target(), HPA: s.HPA, Pod: workload.Constant(c.Policy.Lead), Wait: c.Policy.Wait,
		}})
	}
	var err error
	if of.Prior, err = shape.Shipped(c.Window); err != nil {
		return nil, err
	}
	if of.Margins, err = margin.Shipped(c.Policy.Lead); err != nil {
		return nil, err
	}
	return outcome.New(of)
}

// is says whether a name, however it is spelled, is a candidate's.
func is(name, candidate string) bool {
	canonical, ok := Canonical(name)
	return ok && canonical == candidate
}

// multiple of the spread that an objective serves.
func (f *Forecaster) multiple() float64 {
	if f.objective == nil {
		return 0
	}
	return f.objective.K()
}

// report says how an objective fares; nil without one.
func (f *Forecaster) report() *outcome.Report {
	if f.objective == nil {
		return nil
	}
	r := f.objective.Report()
	if f.decision.Bounded {
		r.Bound(f.limit())
	}
	return r
}
