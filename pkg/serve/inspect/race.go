package inspect

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// race returns the race of a report, with the number of replicas that were really ready; nil before the first interval.
func race(r *objective.Replay, ready forecast.Series) *v1alpha1.Replay {
	if r == nil || len(r.Intervals) == 0 {
		return nil
	}
	n := len(r.Intervals)
	out := &v1alpha1.Replay{
		Start: utc(r.Start), Step: metav1.Duration{Duration: r.Step}, Demand: make([]float64, n),
		Before:   v1alpha1.ReplayTrack{Ready: make([]int32, n), Late: make([]float64, n)},
		Forewarm: v1alpha1.ReplayTrack{Ready: make([]int32, n), Late: make([]float64, n)},
	}
	for i, at := range r.Intervals {
		out.Demand[i] = -1
		if demand := float64(at.Demand); humanize.Known(demand) {
			out.Demand[i] = humanize.Rounded(demand, 4)
		}
		out.Before.Ready[i], out.Forewarm.Ready[i] = at.Before.Ready, at.Forewarm.Ready
		out.Before.Late[i] = humanize.Rounded(float64(at.Before.Late), 3)
		out.Forewarm.Late[i] = humanize.Rounded(float64(at.Forewarm.Late), 3)
	}
	if ready.Step != r.Step {
		return out
	}
	out.Actual = make([]int32, n)
	for i := range out.Actual {
		out.Actual[i] = -1
		at := int(r.Start.Add(time.Duration(i)*r.Step).Sub(ready.Start) / r.Step)
		if at >= 0 && at < ready.Len() && ready.Values[at] >= 0 && ready.Values[at] <= math.MaxInt32 {
			out.Actual[i] = int32(ready.Values[at])
		}
	}
	return out
}

// brief returns a copy of an entry without the race and the background results, which a list does not show.
func brief(e *snapshot.ForecastSnapshot) *snapshot.ForecastSnapshot {
	out := *e
	out.Views = nil
	if e.Objective != nil {
		report := *e.Objective
		report.Replay, out.Objective = nil, &report
	}
	return &out
}

// Strips are the two strips of the newest part of a race, before and Forewarm; false where there is no race.
func Strips(s *v1alpha1.OutlookStatus, newest time.Duration) (before, forewarm chart.Strip, ok bool) {
	if s.Objective == nil || s.Objective.Race == nil {
		return before, forewarm, false
	}
	r := s.Objective.Race
	skipped := max(0, len(r.Demand)-int(newest/r.Step.Duration))
	demand := slices.Clone(r.Demand[skipped:])
	for i := range demand {
		if demand[i] < 0 {
			demand[i] = math.NaN()
		}
	}
	strip := func(by v1alpha1.ReplayTrack) chart.Strip {
		out := chart.Strip{
			Start:  r.Start.Add(time.Duration(skipped) * r.Step.Duration),
			Long:   time.Duration(len(demand)) * r.Step.Duration,
			Demand: demand,
			Late:   by.Late[skipped:],
		}
		for _, ready := range by.Ready[skipped:] {
			out.Ready = append(out.Ready, float64(ready))
		}
		return out
	}
	before, forewarm = strip(r.Before), strip(r.Forewarm)
	scaled := &forewarm
	if s.Serve == string(decide.Shadow) {
		scaled = &before
	}
	if len(r.Actual) == len(r.Demand) {
		for _, ready := range r.Actual[skipped:] {
			value := float64(ready)
			if ready < 0 {
				value = math.NaN()
			}
			scaled.Actual = append(scaled.Actual, value)
		}
	}
	return before, forewarm, true
}

// RaceTitles are the captions of the two strips of a status with an objective.
func RaceTitles(s *v1alpha1.OutlookStatus) (before, forewarm string) {
	forewarm = "Forewarm"
	if s.Serve == string(decide.Shadow) {
		forewarm = "Forewarm, if its value had been served (shadow mode)"
	}
	o := s.Objective
	before = "Previous HPA on the observed demand"
	if o.Before.Target != nil {
		before += ", target " + number(o.Before.Target)
	}
	if o.Before.Assumed {
		share := humanize.ShareAsWritten(objective.AssumedTarget)
		before += " (assumed: " + share + " of what a replica sustains; to correct it, set spec.scaling.before)"
	}
	return before, forewarm
}

// raceChart is one strip of a race on the page.
type raceChart struct {
	Title string
	Chart template.HTML
}

// RaceLength is how much of the race the page and inspect show in detail.
const RaceLength = 24 * time.Hour

// raceCharts returns the strips for the newest part of the race; nil if there is no race.
func raceCharts(s *v1alpha1.OutlookStatus, newest time.Duration, id string) ([]raceChart, error) {
	const tall = 150
	before, forewarm, ok := Strips(s, newest)
	if !ok {
		return nil, nil
	}
	out := make([]raceChart, 2)
	out[0].Title, out[1].Title = RaceTitles(s)
	for i, strip := range []chart.Strip{before, forewarm} {
		c := strip.Chart(chart.Top(before, forewarm), tall)
		c.ID, c.Title, c.Description = fmt.Sprintf("%s-%d", id, i), out[i].Title, s.Objective.Headline
		drawn, err := c.SVG()
		if err != nil {
			return nil, err
		}
		out[i].Chart = drawn
	}
	return out, nil
}

// raceRow is a row of the table below the race.
type raceRow struct {
	Name, BadHours, Late, ReplicaHours, RelativeCost string
	// Class is poor if an hour was bad.
	Class string
}

// badHours says how many hours were bad, and which share of the demand they had.
func badHours(a *v1alpha1.Account) string {
	switch {
	case a.BadHours == nil:
		return unknown
	case *a.BadHours == 0 || a.BadDemand == nil:
		return humanize.Count(int(*a.BadHours))
	}
	return fmt.Sprintf("%s (%s of the demand)", humanize.Count(int(*a.BadHours)), humanize.LateShare(*a.BadDemand))
}

// raceRows returns the rows of the three policies that are compared.
func raceRows(o *v1alpha1.Objective) []raceRow {
	row := func(name string, a *v1alpha1.Account) raceRow {
		out := raceRow{
			Name: name, BadHours: badHours(a), Late: lateShare(a.Late),
			ReplicaHours: humanize.Optional(a.ReplicaHours, humanize.Amount), RelativeCost: significant(a.RelativeCost),
		}
		if a.BadHours != nil && *a.BadHours > 0 {
			out.Class = "poor"
		}
		return out
	}
	target := func(name string, r *v1alpha1.Alternative) string {
		if r.Target == nil {
			return name
		}
		return name + ", target " + number(r.Target)
	}
	rows := []raceRow{
		row("Forewarm", &o.Served), row(target("Previous HPA", &o.Before), &o.Before.Account),
		row(target("HPA with the best target in hindsight", &o.Hindsight), &o.Hindsight.Account),
	}
	if o.Measured != nil {
		rows = append(rows, raceRow{
			Name: "Measured, not simulated", BadHours: unknown, Late: humanize.LateShare(o.Measured.Late),
			ReplicaHours: unknown, RelativeCost: unknown,
		})
	}
	return rows
}
