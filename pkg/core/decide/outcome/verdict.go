package outcome

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/decide"
)

// candidatesOf are what is known of each candidate under the first autoscaler.
func (o *Objective) candidatesOf(a *answer) []Candidate {
	out := make([]Candidate, o.contenders())
	for i, c := range o.candidates[:o.contenders()] {
		t := &c.trials[0]
		k, met := needs(t.curve, a.asked.Price, a.asked.Late)
		at := t.curve.At(k)
		out[i] = Candidate{
			Name: c.name, Serves: i == a.gate.Serving(), K: k, Late: at.Late, Cost: at.Cost,
			Meets: met && !t.margin.Young() && !math.IsNaN(at.Cost),
		}
	}
	return out
}

// scored are candidates as the gate sees them.
func (a *answer) scored(all []Candidate) []decide.Scored {
	out := make([]decide.Scored, len(all))
	for i, c := range all {
		out[i] = decide.Scored{Name: c.Name, Loss: c.loss(a.asked.Price), Fit: c.Meets}
	}
	return out
}

// Report says how what is asked first fares; nil where a multiple is fixed.
func (o *Objective) Report() *Report {
	if o.accounts == nil {
		return nil
	}
	sum, over := o.accounts.total()
	a := o.answers[0]
	serving := o.candidates[a.gate.Serving()]
	r := &Report{
		Late: a.asked.Late, Wait: o.config.Autoscalers[0].Spec.WithDefaults().Wait, Price: a.asked.Price,
		Candidates: o.candidatesOf(a), Hours: serving.trials[0].margin.Hours(), Lead: o.config.Lead,
		Over: over, Served: sum.served, Observed: sum.observed,
	}
	r.Choice = a.gate.Choice(a.scored(r.Candidates))
	var met bool
	r.Scalings, met = serving.scaled(o.config.Autoscalers, a.asked)
	for i, n := range o.config.Named {
		c := o.candidates[o.contenders()+i]
		scalings, _ := c.scaled(n.Autoscalers, a.asked)
		r.Named = append(r.Named, NamedCandidate{Name: c.name, Scalings: scalings, Inputs: slices.Clone(c.inputs)})
	}
	r.PeakReplicas = int(math.Ceil(sum.peak / r.Scalings[0].Target))
	switch {
	case serving.trials[0].margin.Young():
		r.Verdict = Learning
	case r.Price > 0 || met:
		r.Verdict = Met
	case sum.capped > sum.served.Late/2:
		r.Verdict = AtMaxReplicas
	default:
		r.Verdict = FasterThanLead
	}
	return r
}

// scaled is what each of a candidate's autoscalers needs, and whether all of them meet what is asked with it.
func (c *candidate) scaled(on []Autoscaler, asked Asked) (all []Scaled, met bool) {
	met = true
	for i, by := range on {
		curve := c.trials[i].curve
		k, enough := needs(curve, asked.Price, asked.Late)
		met = met && enough
		all = append(all, Scaled{
			By: by.By, Target: by.Spec.Capacity, Min: by.Spec.HPA.Min, Max: by.Spec.HPA.Max,
			K: k, Expected: curve.At(k).Late, Curve: curve,
		})
	}
	return all, met
}
