package inspect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// outcomeOf is how an entry's objective fares; nil where none is served by outcome.
func outcomeOf(e *snapshot.Entry) *v1alpha1.Outcome {
	r := e.Outcome
	if r == nil {
		return nil
	}
	out := &v1alpha1.Outcome{
		Wait:    metav1.Duration{Duration: r.Wait},
		Verdict: string(r.Verdict), Words: r.Words(),
		Candidate: r.Choice.Name, Why: r.Choice.Words(),
		Over:       metav1.Duration{Duration: r.Over},
		Served:     account(r, r.Served),
		Observed:   account(r, r.Observed),
		Scalings:   each(r.Scalings, scaling),
		Candidates: each(r.Candidates, costOf),
	}
	if r.Price > 0 {
		out.CostRatio = finite(&r.Price)
	} else {
		out.Late = finite(&r.Late)
	}
	if widest, ok := r.Widest(); ok {
		out.K, out.Expected, out.WhyK = finite(&widest.K), finite(&widest.Expected), marginWords(widest)
	}
	out.Saved = v1alpha1.Saving{
		ReplicaHours: less(out.Observed.ReplicaHours, out.Served.ReplicaHours),
		Late:         less(out.Observed.Late, out.Served.Late),
	}
	out.Summary = summary(out, e.Policy.Mode == decide.Shadow)
	return out
}

func account(r *outcome.Report, a outcome.Account) v1alpha1.Account {
	var out v1alpha1.Account
	if r.Over > 0 {
		out.ReplicaHours = finite(&a.Paid)
	}
	if a.Arrived > 0 {
		share, cost := a.LateShare(), a.Cost()
		out.Late, out.Cost = finite(&share), finite(&cost)
	}
	return out
}

// less is what one number is above another; nil where one is not known.
func less(of, than *float64) *float64 {
	if of == nil || than == nil {
		return nil
	}
	saved := *of - *than
	return finite(&saved)
}

func scaling(s *outcome.Scaled) v1alpha1.Scaling {
	return v1alpha1.Scaling{
		By: s.By, Target: finite(&s.Target), MinReplicas: s.Min, MaxReplicas: s.Max,
		K: finite(&s.K), Expected: finite(&s.Expected), Curve: curve(s.Curve.Points),
	}
}

func curve(in []margin.Point) []v1alpha1.MarginPoint {
	out := make([]v1alpha1.MarginPoint, 0, len(in))
	for i := range in {
		if finite(&in[i].K) != nil {
			out = append(out, v1alpha1.MarginPoint{K: in[i].K, Late: finite(&in[i].Late), Cost: finite(&in[i].Cost)})
		}
	}
	return out
}

func costOf(c *outcome.Candidate) v1alpha1.CandidateCost {
	return v1alpha1.CandidateCost{
		Name: c.Name, Serves: c.Serves, Meets: c.Meets, K: finite(&c.K), Late: finite(&c.Late), Cost: finite(&c.Cost),
	}
}
