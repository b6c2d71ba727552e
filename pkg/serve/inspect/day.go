package inspect

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// nextDay is the remaining part of the forecast of the next day, with the expected replicas; nil while no value is served.
func nextDay(e *snapshot.ForecastSnapshot, hours []snapshot.PathStep, now time.Time) []v1alpha1.PathStep {
	if len(hours) < 2 || !e.StateAt(now).Serves() {
		return nil
	}
	length := hours[1].Time.Sub(hours[0].Time)
	for len(hours) > 0 && !hours[0].Time.Add(length).After(now) {
		hours = hours[1:]
	}
	out := pathSteps(hours)
	if e.Objective == nil || len(e.Objective.Autoscalers) == 0 {
		return out
	}
	by := &e.Objective.Autoscalers[0]
	perDemand := e.Objective.Served.RelativeCost() / by.Target
	for i, hour := range hours {
		if replicas := math.Round(hour.Point * perDemand); humanize.Known(replicas) {
			out[i].Replicas = new(int32(min(max(replicas, float64(by.Min)), float64(by.Max))))
		}
	}
	return out
}

// DaySummary is the forecast of the next day in a sentence; empty without one.
func DaySummary(s *v1alpha1.OutlookStatus) string {
	if len(s.Day) < 2 {
		return ""
	}
	length := s.Day[1].Time.Sub(s.Day[0].Time.Time)
	top, hours := s.Day[0], 0.0
	for _, hour := range s.Day {
		if hour.Point != nil && (top.Point == nil || *hour.Point > *top.Point) {
			top = hour
		}
		if hour.Replicas != nil {
			hours += float64(*hour.Replicas) * length.Hours()
		}
	}
	if top.Point == nil {
		return ""
	}
	out := fmt.Sprintf("Next %s: the highest forecast is %s at %s UTC",
		span((time.Duration(len(s.Day)) * length).Round(time.Hour)), strings.TrimSpace(number(top.Point)+" "+s.Unit),
		top.Time.UTC().Format("15:04"))
	if upper, ok := top.Quantiles["0.95"]; ok {
		out += fmt.Sprintf(" (0.95 quantile: %s)", number(&upper))
	}
	if top.Replicas != nil {
		out += fmt.Sprintf(", which needs %d replicas; %s replica-hours in total", *top.Replicas,
			humanize.Amount(hours))
	}
	return out + "."
}

// dayChart shows the last hours and the forecast of the next day: its band, the expected replicas as the demand that they serve, and a dark
// lead window at the beginning. It is empty without a forecast.
func dayChart(s *v1alpha1.OutlookStatus, summary string, now time.Time) (template.HTML, error) {
	const before = 6 * time.Hour
	if len(s.Day) < 2 {
		return "", nil
	}
	a := timeScale{now}
	length := s.Day[1].Time.Sub(s.Day[0].Time.Time)
	var capacity []chart.Point
	middles := slices.Clone(s.Day)
	for i, hour := range s.Day {
		middles[i].Time = utc(hour.Time.Add(length / 2))
		if hour.Replicas != nil {
			serves := float64(*hour.Replicas) * *s.Objective.Autoscalers[0].Target
			capacity = append(capacity, a.point(hour.Time.Time, &serves), a.point(hour.Time.Add(length), &serves))
		}
	}
	recent, hours := a.recentFrom(s, -before.Seconds()), a.fan(middles)
	top := panelTop(1.06, recent, hours.expected, capacity, hours.far)
	reach := a.at(s.Day[len(s.Day)-1].Time.Add(length))
	c := newPanel(s, chart.TimeAxis(now, -before.Seconds(), reach), top, sheetWidth)
	c.Tall, c.ID, c.Title, c.Description = 200, "day", "The next day", summary
	c.X.Label = "time of day (UTC)"
	c.Box("lead", chart.Point{}, chart.Point{X: s.Window.Duration.Seconds(), Y: top})
	hours.draw(c)
	c.Line("paid", capacity...)
	c.Line("observed", recent...)
	return c.SVG()
}
