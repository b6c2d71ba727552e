package snapshottest

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Outcome is Ready with an objective in place of a quantile: 1 % of demand late at 40 requests/s a replica, which is met.
func Outcome(key snapshot.Key) *snapshot.Entry {
	e := Ready(key)
	e.Policy = decide.Policy{Late: 0.01, Target: 40, Lead: lead, Mode: decide.Floor}
	e.Decision = decide.Decide(e.Policy, e.Inputs)
	e.Outcome = Report(outcome.Met)
	return e
}

// Report is how an objective of 1 % fares in each verdict, on a week of demand that an HPA of 1 to 12 replicas carries.
func Report(verdict outcome.Verdict) *outcome.Report {
	r := &outcome.Report{
		Late: 0.01, Wait: 30 * time.Second, Verdict: verdict,
		Shape: "learnt", Why: "learnt takes 296 replica-hours to keep to 1 %, 6.1 % fewer than last-season",
		Scalings: []outcome.Scaled{{
			By: "HorizontalPodAutoscaler/llama", Target: 40, Min: 1, Max: 12, K: 1.3, Expected: 0.0082,
			Curve: []outcome.Point{{K: 0.5, Late: 0.031}, {K: 1, Late: 0.0124}, {K: 1.5, Late: 0.006}},
		}},
		Candidates: shapes(),
		Over:       7 * 24 * time.Hour,
		Served:     outcome.Account{Arrived: 174, Late: 1.08, Paid: 296},
		Observed:   outcome.Account{Arrived: 174, Late: 6.79, Paid: 331},
	}
	widest := &r.Scalings[0]
	switch verdict {
	case outcome.Met:
		r.Words = "0.82 % of the demand is expected to be late, 1 % is asked"
	case outcome.Learning:
		r.Words = "5 hours of the workload were seen, a day is needed: k = 1.9 is what other workloads need"
		widest.K, widest.Expected, widest.Curve = 1.9, math.NaN(), nil
		r.Shape, r.Why, r.Candidates, r.Over = "learnt", "nothing else was played yet", nil, 5*time.Hour
		r.Served = outcome.Account{Arrived: 5.1, Late: 0, Paid: 12}
		r.Observed = outcome.Account{Arrived: 5.1, Late: 0.01, Paid: 11}
	case outcome.AtMaxReplicas:
		r.Words = "2.4 % of the demand is late, 1 % is asked: 12 replicas sustain 480 requests/s, 16 would be needed"
		widest.Expected, r.Served.Late = 0.024, 4.2
		widest.Curve = []outcome.Point{{K: 1, Late: 0.027}, {K: 1.5, Late: 0.0238}}
	case outcome.FasterThanLead:
		r.Words = "1.8 % of the demand is late, 1 % is asked: it rises by half within the 5m that a replica needs"
		widest.K, widest.Expected, r.Served.Late = 6, 0.018, 3.1
		widest.Curve = []outcome.Point{{K: 4, Late: 0.0183}, {K: 6, Late: 0.018}}
	}
	return r
}

// shapes are candidates of which one serves, one costs more, one cannot meet the objective, and one was not played yet.
func shapes() []outcome.Candidate {
	return []outcome.Candidate{
		{Name: "learnt", Serves: true, K: 1.3, Late: 0.0082, Cost: 1.701, Meets: true},
		{Name: "last-season", K: 1.8, Late: 0.0094, Cost: 1.812, Meets: true},
		{Name: "last-value", K: 6, Late: 0.0213, Cost: 2.74},
		{Name: "arima", K: math.NaN(), Late: math.NaN(), Cost: math.NaN()},
	}
}
