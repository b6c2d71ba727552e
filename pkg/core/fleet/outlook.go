package fleet

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// OutlookOf returns the outlook of a Forecast's entry at the time now. The entry may be nil, before there is one.
func OutlookOf(e *snapshot.ForecastSnapshot, now time.Time) Outlook {
	out := Outlook{Unreliable: e.Doubt(now)}
	if e == nil {
		return out
	}
	out.Served, out.ServedPeaks, out.Window = e.Decision.Value, e.ServedPeaks, e.Window
	background := e.Views.Look(now) // The fleet is a viewer, for whom the results are computed more often.
	out.Hours = background.Hours
	out.Hours.Start = out.Hours.Start.Add(-out.Hours.Step)
	if next := background.NextDay; len(next) > 1 {
		out.NextDay = forecast.Series{Start: next[0].Time, Step: next[1].Time.Sub(next[0].Time)}
		for i := range next {
			out.NextDay.Values = append(out.NextDay.Values, next[i].Point)
		}
	}
	if c := e.PathCandidate(); c != nil {
		out.Windows = c.Windows
	}
	for i := range e.Events {
		out.Events = append(out.Events, e.Events[i].Occurrence)
	}
	return out
}
