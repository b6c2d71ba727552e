package outcome

import (
	"math"

	"github.com/forewarm/forewarm/pkg/decide"
)

// candidatesOf are what is known of each candidate under the first autoscaler.
func (o *Objective) candidatesOf(a *answer) []Candidate {
	out := make([]Candidate, len(o.candidates))
	for i, c := range o.candidates {
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

// scored are candidates as the gate sees them. What is to be least is the cost and, at a price, the lateness.
func (a *answer) scored(all []Candidate) []decide.Scored {
	out := make([]decide.Scored, len(all))
	for i, c := range all {
		out[i] = decide.Scored{Name: c.Name, Loss: c.Cost + a.asked.Price*c.Late, Fit: c.Meets}
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
	met := true
	for i, by := range o.config.Autoscalers {
		curve := serving.trials[i].curve
		k, enough := needs(curve, a.asked.Price, a.asked.Late)
		met = met && enough
		r.Scalings = append(r.Scalings, Scaled{
			By: by.By, Target: by.Spec.Capacity, Min: by.Spec.HPA.Min, Max: by.Spec.HPA.Max,
			K: k, Expected: curve.At(k).Late, Curve: curve,
		})
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
