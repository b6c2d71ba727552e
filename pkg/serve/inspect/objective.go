package inspect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// objectiveStatus returns the state of an entry's objective; nil if the entry has no calibrated objective.
func objectiveStatus(e *snapshot.ForecastSnapshot, ready forecast.Series) *v1alpha1.Objective {
	r := e.Objective
	if r == nil {
		return nil
	}
	out := &v1alpha1.Objective{
		Wait:    metav1.Duration{Duration: r.Wait},
		Verdict: string(r.Verdict), Message: r.Message(),
		Candidate: r.Selection.Selected, CandidateReason: r.Selection.Message(),
		Over:        metav1.Duration{Duration: r.Period},
		Served:      account(r, r.Served),
		Observed:    account(r, r.Observed),
		Before:      rival(r, r.Before),
		Hindsight:   rival(r, r.Hindsight),
		Headline:    r.Headline(e.Settings.Mode == decide.Shadow),
		Comparison:  comparison(r, e.Settings.Mode == decide.Shadow),
		Race:        race(r.Replay, ready),
		Autoscalers: convertEach(r.Autoscalers, autoscaler),
		Candidates:  convertEach(r.Candidates, candidateCost),
	}
	switch {
	case r.Price > 0:
		out.CostRatio = finite(&r.Price)
	case r.BadHours:
		out.BadHours, out.Budget = finite(&r.Late), budget(r)
	default:
		out.Late, out.Budget = finite(&r.Late), budget(r)
	}
	if widest, ok := r.MostDemanding(); ok {
		out.Headroom, out.ExpectedLate = finite(&widest.Headroom), finite(&widest.ExpectedLate)
		out.HeadroomReason = headroomReason(widest)
	}
	out.Before.Assumed = r.BeforeAssumed
	if m := r.Measured; m != nil && finite(&m.Late) != nil {
		out.Measured = &v1alpha1.Measured{Late: m.Late, Known: metav1.Duration{Duration: m.Known}}
	}
	out.Hours, out.Deferrable = judgedHours(r), deferrable(r.Deferrable)
	out.Saved = v1alpha1.Saving{
		ReplicaHours: difference(out.Before.ReplicaHours, out.Served.ReplicaHours),
		Late:         difference(out.Before.Late, out.Served.Late),
	}
	out.Summary = objectiveSummary(out, e.Settings.Mode == decide.Shadow)
	return out
}

// comparison returns the figures for the headline; nil if there was no demand.
func comparison(r *objective.Report, shadow bool) *v1alpha1.Comparison {
	v := r.Judged
	if v == nil {
		return nil
	}
	return &v1alpha1.Comparison{
		Verdict: string(v.Word), Saved: finite(&v.Saved), SavedLow: finite(&v.Low), SavedHigh: finite(&v.High),
		Target: v.HPA.Setting, Retargeted: v.Retargeted, Details: r.Details(shadow),
	}
}

// budget returns the lateness budget. Its amounts are unknown before anything is simulated.
func budget(r *objective.Report) *v1alpha1.Budget {
	b := &r.Budget
	out := &v1alpha1.Budget{Period: metav1.Duration{Duration: b.Over}, TargetLate: finite(&r.TargetLate)}
	if r.Period > 0 {
		left := b.Left()
		out.Allowed, out.Spent, out.Left = finite(&b.Allowed), finite(&b.Spent), finite(&left)
		out.BurnRate, out.BurnRateSixHours = finite(&b.BurnHour), finite(&b.BurnSixHours)
	}
	return out
}

// judgedHours returns the bad hours of a report; nil before the first hour is judged.
func judgedHours(r *objective.Report) *v1alpha1.Hours {
	if r.Bad.Judged == 0 {
		return nil
	}
	of := &r.Bad // The counts are limited by the number of hours in the longest period.
	out := &v1alpha1.Hours{
		Judged: int32(of.Judged), Bad: int32(of.Count), Served: int32(of.Recorded), BadDemand: of.Share,
	}
	if busy := humanize.Rounded(of.Busy, 3); busy > 0 {
		out.BusyHour = &busy
	}
	for _, h := range of.Worth {
		late, demand := humanize.Rounded(h.Late, 3), humanize.Rounded(h.Demand, 3)
		hour := v1alpha1.BadHour{Start: utc(h.Start), Late: late, Demand: demand, Replayed: h.Replayed}
		out.Named = append(out.Named, hour)
	}
	return out
}

// BadHoursText says how many hours were bad, and names the worst; empty before an hour is judged.
func BadHoursText(h *v1alpha1.Hours) string {
	if h == nil {
		return ""
	}
	of := objective.BadHours{Count: int(h.Bad), Share: h.BadDemand, Judged: int(h.Judged), Recorded: int(h.Served)}
	for _, hour := range h.Named {
		of.Worth = append(of.Worth, badHour(hour))
	}
	return of.String()
}

func badHour(h v1alpha1.BadHour) objective.BadHour {
	return objective.BadHour{Start: h.Start.Time, Late: h.Late, Demand: h.Demand, Replayed: h.Replayed}
}

func deferrable(d *objective.Deferrable) *v1alpha1.Deferrable {
	if d == nil {
		return nil
	}
	deadline := metav1.Duration{Duration: d.Deadline}
	out := &v1alpha1.Deferrable{Deadline: deadline, ReplicaHours: d.Arrived, Waiting: d.Waiting}
	if share := d.MissedShare(); d.Arrived > 0 {
		out.Missed = &share
	}
	if d.DeadlineFloor > 0 {
		out.Needed = finite(&d.DeadlineFloor)
	}
	return out
}

func account(r *objective.Report, a objective.Account) v1alpha1.Account {
	var out v1alpha1.Account
	if r.Period > 0 {
		out.ReplicaHours = finite(&a.ReplicaHours)
	}
	if a.Arrived > 0 {
		share, cost := a.LateShare(), a.RelativeCost()
		out.Late, out.RelativeCost = finite(&share), finite(&cost)
	}
	if a.Judged > 0 {
		count, share := int32(a.BadHours), a.BadShare() //nolint:gosec // At most the hours of the longest period.
		out.BadHours, out.BadDemand = &count, finite(&share)
	}
	return out
}

func rival(r *objective.Report, of objective.Alternative) v1alpha1.Alternative {
	out := v1alpha1.Alternative{Account: account(r, of.Account)}
	if of.Target > 0 {
		out.Target = finite(&of.Target)
	}
	return out
}

// difference returns a − b; nil if one of them is unknown.
func difference(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return finite(&d)
}

func autoscaler(s *objective.AutoscalerReport) v1alpha1.Autoscaler {
	return v1alpha1.Autoscaler{
		Name: s.Name, Target: finite(&s.Target), MinReplicas: s.Min, MaxReplicas: s.Max,
		Headroom: finite(&s.Headroom), ExpectedLate: finite(&s.ExpectedLate), Curve: headroomCurve(s.Curve.Points),
	}
}

func headroomCurve(in []objective.Point) []v1alpha1.HeadroomPoint {
	out := make([]v1alpha1.HeadroomPoint, 0, len(in))
	for i := range in {
		if p := &in[i]; finite(&p.Multiplier) != nil {
			late, cost := finite(&p.Late), finite(&p.RelativeCost)
			out = append(out, v1alpha1.HeadroomPoint{Headroom: p.Multiplier, Late: late, RelativeCost: cost})
		}
	}
	return out
}

func candidateCost(c *objective.Candidate) v1alpha1.CandidateCost {
	return v1alpha1.CandidateCost{
		Name: c.Name, Selected: c.Selected, MeetsObjective: c.MeetsObjective,
		Headroom: finite(&c.Headroom), Late: finite(&c.Late), RelativeCost: finite(&c.RelativeCost),
	}
}
