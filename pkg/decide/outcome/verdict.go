package outcome

import (
	"fmt"
	"math"
	"time"
)

// scores are what is known of each candidate under the first autoscaler.
func (o *Objective) scores(a *answer) []Candidate {
	out := make([]Candidate, len(o.candidates))
	for i, c := range o.candidates {
		t := &c.trials[0]
		k, met := needs(t.curve, a.asked.Price, a.asked.Late)
		at := t.curve.At(k)
		out[i] = Candidate{
			Name: c.name, Serves: i == a.gate.serving, K: k, Late: at.Late, Cost: at.Cost,
			Meets: met && !t.margin.Young() && !math.IsNaN(at.Cost),
		}
	}
	return out
}

// loss is what is to be least: the cost and, at a price, the lateness.
func (a *answer) loss(c Candidate) float64 { return c.Cost + a.asked.Price*c.Late }

// Report says how what is asked first fares; nil where a multiple is fixed.
func (o *Objective) Report() *Report {
	if o.accounts == nil {
		return nil
	}
	sum, over := o.accounts.total()
	a := o.answers[0]
	serving := o.candidates[a.gate.serving]
	r := &Report{
		Late: a.asked.Late, Wait: o.config.Autoscalers[0].Spec.WithDefaults().Wait, Price: a.asked.Price,
		Shape: serving.name, Why: a.gate.reason(serving.name), Candidates: o.scores(a),
		Over: over, Served: sum.served, Observed: sum.observed,
	}
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
	o.judge(r, met, sum)
	return r
}

// judge says whether what was asked is met, and why it is not.
func (o *Objective) judge(r *Report, met bool, sum account) {
	t := &o.candidates[o.answers[0].gate.serving].trials[0]
	first := r.Scalings[0]
	top := first.Curve.Points[len(first.Curve.Points)-1]
	asked := r.asked()
	switch {
	case t.margin.Young():
		r.Verdict = Learning
		from := "that of other workloads"
		if r.Price > 0 {
			from = "a careful one"
		}
		r.Words = fmt.Sprintf("%s: %d hours were seen so far; until there are 24, the margin is %s, k = %.3g",
			asked, t.margin.Hours(), from, o.K(0))
	case r.Price > 0:
		r.Verdict = Met
		r.Words = fmt.Sprintf(
			"%s: k = %.3g is the cheapest; with it %s is expected to wait longer",
			asked,
			o.K(0),
			percent(first.Expected),
		)
	case met:
		r.Verdict = Met
		r.Words = fmt.Sprintf("%s; %s is expected to, with k = %.3g", asked, percent(first.Expected), o.K(0))
	case sum.capped > sum.served.Late/2:
		r.Verdict = AtMaxReplicas
		r.Words = fmt.Sprintf(
			"%s, but %s is expected to: the autoscaler stops at %d replicas, and the highest demand of the "+
				"last %s took %d",
			asked,
			percent(first.Expected),
			first.Max,
			span(r.Over),
			int(math.Ceil(sum.peak/first.Target)),
		)
	default:
		r.Verdict = FasterThanLead
		r.Words = fmt.Sprintf(
			"%s, but %s is expected to: bursts come faster than replicas start (%s). k = %.3g is served; "+
				"k = %.3g would leave %s late at %.3g times the replica-hours, and is not worth them",
			asked,
			percent(first.Expected),
			o.config.Lead,
			o.K(0),
			top.K,
			percent(top.Late),
			top.Cost/first.Curve.At(o.K(0)).Cost,
		)
	}
}

// asked is the objective, or the price, in words.
func (r *Report) asked() string {
	if r.Price > 0 {
		return fmt.Sprintf(
			"a replica-hour of demand that waits longer than %s costs as much as %.6g idle ones",
			r.Wait,
			r.Price,
		)
	}
	return fmt.Sprintf("at most %s may wait longer than %s", percent(r.Late), r.Wait)
}

// reason is why a candidate serves.
func (g *gate) reason(name string) string {
	if g.why != "" {
		return g.why
	}
	return fmt.Sprintf(
		"%s serves: no other shape was cheaper by %.0f%% for %d hours on end",
		name,
		100*gain,
		promotion,
	)
}

func percent(share float64) string { return fmt.Sprintf("%.2g%%", 100*share) }

func span(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
