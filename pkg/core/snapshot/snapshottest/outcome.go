package snapshottest

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Outcome is Ready with an objective in place of a quantile: 1 % of demand late at 40 requests/s a replica, which is met.
func Outcome(key snapshot.Key) *snapshot.Entry {
	e := Ready(key)
	e.Policy = decide.Policy{Late: 0.01, Wait: 30 * time.Second, Target: 40, Lead: lead, Mode: decide.Floor}
	e.Outcome = Report(outcome.Met)
	e.Decision = decide.Decide(e.Policy, e.Outcome.K(e.Policy), e.Inputs)
	return e
}

// Priced is Outcome at a cost ratio of 20 in place of the objective.
func Priced(key snapshot.Key) *snapshot.Entry {
	e := Outcome(key)
	e.Policy.CostRatio, e.Policy.Late = 20, 0
	r := e.Outcome
	r.Price, r.Late = 20, 0
	r.Scalings[0].K = r.K(e.Policy)
	r.Scalings[0].Expected = r.Scalings[0].Curve.At(r.Scalings[0].K).Late
	r.Candidates[2].Meets = true // A price promises nothing that could be missed.
	e.Decision = decide.Decide(e.Policy, r.K(e.Policy), e.Inputs)
	return e
}

// Report is how an objective of 1 % fares in each verdict, on a week of demand that an HPA of 1 to 12 replicas carries.
func Report(verdict outcome.Verdict) *outcome.Report {
	r := &outcome.Report{
		Late: 0.01, Wait: 30 * time.Second, Verdict: verdict,
		Hours: 7 * 24, Lead: lead, Candidates: tried(),
		Choice: decide.Choice{
			Why: decide.Cheaper, Loss: decide.Bill, Name: windowpeak.Regression, NameLoss: 1.7,
			Before: windowpeak.LastSeason, BeforeLoss: 1.81, Hours: 24,
		},
		Scalings: []outcome.Scaled{{
			By: "HorizontalPodAutoscaler/llama", Target: 40, Min: 1, Max: 12,
			K: 1.3, Expected: 0.01, Curve: curve(0.01),
		}},
		Over:     7 * 24 * time.Hour,
		Served:   outcome.Account{Arrived: 174, Late: 1.08, Paid: 296},
		Observed: outcome.Account{Arrived: 174, Late: 6.79, Paid: 331},
	}
	widest := &r.Scalings[0]
	switch verdict {
	case outcome.Met:
	case outcome.Learning:
		r.Hours = 5
		widest.K, widest.Expected, r.Candidates, r.Over = 1.9, math.NaN(), nil, 5*time.Hour
		r.Served = outcome.Account{Arrived: 5.1, Late: 0, Paid: 12}
		r.Observed = outcome.Account{Arrived: 5.1, Late: 0.01, Paid: 11}
	case outcome.Bounded:
		r.Limit = credible.Limit{Known: true, Base: 93, Forecast: 140, Observed: 140}
	case outcome.AtMaxReplicas:
		r.PeakReplicas = 16
		widest.Expected, widest.Curve, r.Served.Late = 0.024, curve(0.024), 4.2
	case outcome.FasterThanLead:
		widest.K, widest.Expected, widest.Curve, r.Served.Late = 6.5, 0.018, curve(0.018), 3.1
	}
	return r
}

// curve is the share late, and the cost, of each multiple, where a share is late under 1.3.
func curve(late float64) margin.Curve {
	out := margin.Curve{Most: 11}
	for _, k := range margin.Grid() {
		out.Points = append(out.Points, margin.Point{K: k, Late: late * math.Exp2(2*(1.3-k)), Cost: 1.44 + 0.2*k})
	}
	return out
}

// tried are candidates of which one serves, one costs more, one cannot meet the objective, and one was not played yet.
func tried() []outcome.Candidate {
	return []outcome.Candidate{
		{Name: windowpeak.Regression, Serves: true, K: 1.3, Late: 0.01, Cost: 1.701, Meets: true},
		{Name: windowpeak.LastSeason, K: 1.8, Late: 0.01, Cost: 1.812, Meets: true},
		{Name: windowpeak.LastValue, K: 11, Late: 0.0213, Cost: 2.74},
		{Name: "arima", K: math.NaN(), Late: math.NaN(), Cost: math.NaN()},
	}
}
