package snapshottest

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// WithObjective is Ready with an objective in place of a quantile: at most 1 % late demand, 40 requests/s per replica.
// The objective is met.
func WithObjective(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := Ready(key)
	e.Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Target: 40, Lead: lead, Mode: decide.Floor}
	e.Objective = ObjectiveReport(objective.Met)
	e.Decision = decide.Decide(e.Settings, e.Objective.HeadroomFor(e.Settings), e.Inputs)
	return e
}

// WithBadHours is WithObjective with an objective by bad hours.
func WithBadHours(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := WithObjective(key)
	const over = 14 * 24 * time.Hour
	e.Settings.BadHours, e.Settings.Over = true, over
	r := e.Objective
	r.BadHours, r.Budget.Over, r.Served.Bad, r.Served.Judged, r.Served.BadHours = true, over, r.Served.Late, 174, 2
	r.Before.Bad, r.Before.Judged, r.Before.BadHours = 9, 174, 9
	monday := Now().Truncate(24 * time.Hour).Add(-2*24*time.Hour + 7*time.Hour)
	r.Bad = objective.BadHours{
		Count:    2,
		Share:    r.Served.BadShare(),
		Judged:   336,
		Recorded: 240,
		Busy:     .0062,
		Worth: []objective.BadHour{
			{Start: monday.Add(-7 * 24 * time.Hour), Late: .18, Demand: .0021, Replayed: true},
			{Start: monday, Late: .43, Demand: .0041},
		},
	}
	for i := range r.Autoscalers {
		r.Autoscalers[i].BadHours = true
	}
	return e
}

// WithCostRatio is WithObjective with a cost ratio of 20 in place of the objective.
func WithCostRatio(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := WithObjective(key)
	e.Settings.CostRatio, e.Settings.Late = 20, 0
	r := e.Objective
	r.Price, r.Late, r.TargetLate, r.Budget = 20, 0, 0, objective.Budget{}
	r.Autoscalers[0].Headroom = r.HeadroomFor(e.Settings)
	r.Autoscalers[0].ExpectedLate = r.Autoscalers[0].Curve.At(r.Autoscalers[0].Headroom).Late
	r.Judged = judged(r)
	r.Candidates[2].MeetsObjective = true // A price promises nothing that could be missed.
	e.Decision = decide.Decide(e.Settings, r.HeadroomFor(e.Settings), e.Inputs)
	return e
}

// ObjectiveReport is the report of an objective of 1 % with each verdict, over a week of demand under an HPA of 1 to 12
// replicas.
func ObjectiveReport(of objective.Verdict) *objective.Report {
	r := &objective.Report{
		Late: 0.01, Wait: 30 * time.Second, Verdict: of, Hours: 7 * 24, Lead: lead, Candidates: candidateCosts(),
		Selection: decide.SelectionReason{
			Rule:         decide.SelectedAsBetter,
			Criterion:    decide.RelativeCost,
			Selected:     windowpeak.Regression,
			SelectedLoss: 1.7,
			Previous:     windowpeak.LastSeason,
			PreviousLoss: 1.81,
			Hours:        24,
		},
		Autoscalers: []objective.AutoscalerReport{{
			Name: "HorizontalPodAutoscaler/llama", Target: 40, Min: 1, Max: 12,
			Headroom: 1.3, ExpectedLate: 0.01, Curve: curve(0.01), Other: curve(otherShare),
		}},
		TargetLate: 0.01,
		Period:     7 * 24 * time.Hour,
		Served:     objective.Account{Arrived: 174, Late: 1.08, ReplicaHours: 296},
		Observed:   objective.Account{Arrived: 174, Late: 12.3, ReplicaHours: 240},
		Before: objective.Alternative{
			Account: objective.Account{Arrived: 174, Late: 6.79, ReplicaHours: 331},
			Target:  28,
		},
		Hindsight: objective.Alternative{
			Account: objective.Account{Arrived: 174, Late: 1.02, ReplicaHours: 352},
			Target:  24,
		},
		Replay:        race(),
		BeforeAssumed: true,
	}
	widest := &r.Autoscalers[0]
	switch of {
	case objective.Met:
	case objective.Learning:
		r.Hours = 5
		widest.Headroom, widest.ExpectedLate, r.Candidates, r.Period = 1.9, math.NaN(), nil, 5*time.Hour
		r.Served = objective.Account{Arrived: 5.1, Late: 0, ReplicaHours: 12}
		r.Observed = objective.Account{Arrived: 5.1, Late: 0.01, ReplicaHours: 11}
		r.Before.Account, r.Hindsight.Account, r.Replay = r.Observed, r.Observed, nil
	case objective.Bounded:
		r.Limit = demand.Limit{Known: true, Base: 93, Forecast: 140, Observed: 140}
	case objective.Overspent:
		r.TargetLate, widest.Headroom, widest.ExpectedLate, r.Served.Late = 0.006, 1.7, 0.006, 2.5
	case objective.AtMaxReplicas:
		r.PeakReplicas = 16
		widest.ExpectedLate, widest.Curve, r.Served.Late = 0.024, curve(0.024), 4.2
	case objective.FasterThanLead:
		widest.Headroom, widest.ExpectedLate, widest.Curve, r.Served.Late = 6.5, 0.018, curve(0.018), 3.1
	}
	r.Budget = objective.Budget{
		Over:         7 * 24 * time.Hour,
		Allowed:      r.Late * r.Served.Arrived,
		Spent:        r.Served.Late,
		BurnHour:     0.3,
		BurnSixHours: 1.2,
	}
	r.Judged = judged(r)
	return r
}

// judged is the verdict on a report whose days are all alike, with the best target as the only other one.
func judged(r *objective.Report) *verdict.Verdict {
	days := int(r.Period.Hours()) / 24 //nolint:mnd // Hours.
	outcome := func(setting float64, a objective.Account) verdict.Outcome {
		out := verdict.Outcome{Setting: setting, Share: a.LateShare()}
		for range max(days, 1) {
			out.Cost = append(out.Cost, a.ReplicaHours/float64(max(days, 1)))
		}
		return out
	}
	c := verdict.Comparison{
		Objective: r.Late, Priced: r.Price > 0, Unit: "replica-hours", Period: "the last " + humanize.Period(r.Period),
		HPAName:  "an HPA with a target of 70% of a replica's capacity",
		Forewarm: outcome(r.Late, r.Served), HPA: outcome(r.Before.Target, r.Before.Account),
		Targets: []verdict.Outcome{outcome(r.Hindsight.Target, r.Hindsight.Account)},
	}
	v := c.Judge()
	return &v
}

// race is a day of half-hours with a rise at eight that Forewarm is ready for, and a gap of an hour.
func race() *objective.Replay {
	const step = 30 * time.Minute
	out := &objective.Replay{Start: Now().Truncate(step).Add(-48 * step), Step: step}
	for i := range 48 {
		one := objective.RaceInterval{Demand: 2.5}
		one.Before.Ready, one.Forewarm.Ready = 4, 3
		switch {
		case i == 16:
			one.Demand, one.Before.Late, one.Forewarm.Ready = 7.25, 0.2, 8
		case i == 30 || i == 31:
			one.Demand = float32(math.NaN())
		case i > 16:
			one.Demand, one.Before.Ready, one.Forewarm.Ready = 7, 10, 8
		}
		out.Intervals = append(out.Intervals, one)
	}
	return out
}

// otherShare is the demand in bad hours at headroom 1.3, where 1 % is late.
const otherShare = 0.03

// curve gives each headroom its lateness and cost; the given lateness is that of headroom 1.3.
func curve(late float64) objective.Curve {
	out := objective.Curve{Max: 11}
	for _, k := range objective.FineGrid() {
		out.Points = append(out.Points,
			objective.Point{Multiplier: k, Late: late * math.Exp2(2*(1.3-k)), RelativeCost: 1.44 + 0.2*k})
	}
	return out
}

// candidateCosts are a selected candidate, a more expensive one, one that cannot meet the objective, and one that was
// not simulated yet.
func candidateCosts() []objective.Candidate {
	return []objective.Candidate{
		{
			Name:           windowpeak.Regression,
			Selected:       true,
			Headroom:       1.3,
			Late:           0.01,
			RelativeCost:   1.701,
			MeetsObjective: true,
		},
		{Name: windowpeak.LastSeason, Headroom: 1.8, Late: 0.01, RelativeCost: 1.812, MeetsObjective: true},
		{Name: windowpeak.LastValue, Headroom: 11, Late: 0.0213, RelativeCost: 2.74},
		{Name: "arima", Headroom: math.NaN(), Late: math.NaN(), RelativeCost: math.NaN()},
	}
}
