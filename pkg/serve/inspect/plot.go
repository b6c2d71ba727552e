package inspect

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
)

// The sheet in pixels: two panels side by side, and the legend below them.
const (
	sheetWidth, pastWidth, aheadWidth = 1120, 644, 432
	panelTall, inset                  = 320, 14
)

// renderPlot is the outlook as a picture of its own.
func renderPlot(o *v1alpha1.Outlook, now time.Time) ([]byte, error) { return drawing(o, now, true) }

// drawing is the SVG of an outlook: the last day with the forecasts beside what came, and what lies ahead, with a heading
// or without.
func drawing(o *v1alpha1.Outlook, now time.Time, heading bool) ([]byte, error) {
	s := &o.Status
	sheet := chart.Sheet{
		Width: sheetWidth, Title: cut(o.Namespace + "/" + o.Name + ": " + headline(s)), Description: described(s),
	}
	top := 0.0
	if heading {
		top = 62
		sheet.Text("title", inset, 32, cut(o.Namespace+" / "+o.Name))
		sheet.Text("subtitle", inset, 54, cut(headline(s)))
	}
	before, ahead := pastPanel(s, now), aheadPanel(s, now)
	sheet.Chart(inset, top, pastWidth, before)
	sheet.Chart(sheetWidth-inset-aheadWidth, top, aheadWidth, ahead)
	bottom := top + before.Height() + 22
	sheet.Height = bottom + inset
	sheet.Legend(inset, bottom, append(legend(), repairKeys(s.Repairs)...)...)
	svg, err := sheet.SVG()
	if err != nil {
		return nil, fmt.Errorf("plot of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return svg, nil
}

func legend() []chart.Key {
	return []chart.Key{
		chart.LineKey("observed", "observed"),
		chart.LineKey("then", "served then"),
		chart.DotKey("came", "maximum that came"),
		chart.LineKey("expected", "expected"),
		{Name: "median to quantile 0.8, 0.95", Draw: func(c *chart.Chart) {
			c.Box("far", chart.Point{}, chart.Point{X: 1, Y: 1})
			c.Box("near", chart.Point{}, chart.Point{X: 1, Y: 0.6})
		}},
		chart.LineKey("served", "served now, for its window"),
	}
}

// panel is an empty chart of seconds from now, from 0 to top.
func panel(s *v1alpha1.OutlookStatus, x chart.Axis, top, width float64) *chart.Chart {
	c := &chart.Chart{X: x, Y: chart.Numbers(0, top), Tall: panelTall, Across: width, Up: panelTall}
	c.Y.Label = "demand"
	if s.Unit != "" {
		c.Y.Label += ", " + cut(s.Unit)
	}
	return c
}

// axis turns times into seconds from now, so that no precision is lost on the way to the drawing.
type axis struct{ now time.Time }

func (a axis) at(t time.Time) float64 { return t.Sub(a.now).Seconds() }

// point is a mark; its Y is NaN where there is no value.
func (a axis) point(at time.Time, value *float64) chart.Point {
	if value == nil {
		return chart.Point{X: a.at(at), Y: math.NaN()}
	}
	return chart.Point{X: a.at(at), Y: *value}
}

// recent is the observed demand, ending in the newest sample.
func (a axis) recent(s *v1alpha1.OutlookStatus) []chart.Point {
	out := make([]chart.Point, 0, len(s.Recent)+1)
	for _, sample := range s.Recent {
		out = append(out, a.point(sample.Time.Time, sample.Observed))
	}
	if s.SampleTime != nil && s.Observed != nil {
		newest := a.point(s.SampleTime.Time, s.Observed)
		if n := len(out); n == 0 || newest.X > out[n-1].X {
			out = append(out, newest)
		}
	}
	return out
}

// pastPanel is the last day: the observed demand, what was served, and the maximum that came.
func pastPanel(s *v1alpha1.OutlookStatus, now time.Time) *chart.Chart {
	a := axis{now}
	recent := a.recent(s)
	var then, came []chart.Point
	for _, forecast := range s.Past {
		then = append(then, a.point(forecast.Time.Time, forecast.Forecast))
		came = append(came, a.point(forecast.Time.Time, forecast.Observed))
	}
	c := panel(s, chart.Times(now, a.earliest(s), 0), top(1.06, recent, then, came), pastWidth)
	c.X.Label = "time of day (UTC), the last " + hours(-c.X.From)
	shade(c, a, s.Repairs)
	c.Dots("came", came...)
	c.Line("then", then...)
	c.Line("observed", recent...)
	return c
}

// earliest is where the last day's panel begins: at the oldest mark, from an hour to a day ago.
func (a axis) earliest(s *v1alpha1.OutlookStatus) float64 {
	oldest := -time.Hour.Seconds()
	if len(s.Recent) > 0 {
		oldest = min(oldest, a.at(s.Recent[0].Time.Time))
	}
	if len(s.Past) > 0 {
		oldest = min(oldest, a.at(s.Past[0].Time.Time))
	}
	return math.Floor(max(oldest, -24*time.Hour.Seconds()))
}

// aheadPanel is now and what comes: the end of the observed demand, the fan of the path and the value served.
func aheadPanel(s *v1alpha1.OutlookStatus, now time.Time) *chart.Chart {
	a := axis{now}
	reach := a.reach(s)
	from, window := -reach/2, s.Window.Duration.Seconds()
	recent := a.recent(s)
	// A peak of last night is not to flatten the next hour.
	for len(recent) > 1 && recent[1].X < from {
		recent = recent[1:]
	}
	median, near, far := a.quantile(s.Path, "0.5"), a.quantile(s.Path, "0.8"), a.quantile(s.Path, "0.95")
	var expected, served []chart.Point
	for _, step := range s.Path {
		expected = append(expected, a.point(step.Time.Time, step.Point))
	}
	if s.Served != nil {
		served = []chart.Point{{X: 0, Y: *s.Served}, {X: window, Y: *s.Served}}
	}
	// There is room for the number above the value served.
	highest := top(1.12, recent, median, near, far, expected, served)
	c := panel(s, chart.Times(now, from, reach), highest, aheadWidth)
	c.X.Label = "time of day (UTC), now and ahead"
	if len(s.Path) > 0 && s.PathModel != s.Model {
		c.X.Label += " (path: " + cut(s.PathModel) + ")"
	}
	shade(c, a, s.Repairs)
	c.Area("far", median, far)
	c.Area("near", median, near)
	c.Line("expected", expected...)
	c.Line("observed", recent...)
	c.Line("now", chart.Point{}, chart.Point{Y: highest})
	if served != nil {
		c.Line("served", served...)
		c.Note("served", served[0], number(s.Served), false)
	}
	return c
}

// quantile is a line of the path; where one of its steps has none, it is not known there.
func (a axis) quantile(path []v1alpha1.PathStep, level string) []chart.Point {
	out := make([]chart.Point, 0, len(path))
	for _, step := range path {
		y := math.NaN()
		if v, ok := step.Quantiles[level]; ok {
			y = max(v, 0)
		}
		out = append(out, chart.Point{X: a.at(step.Time.Time), Y: y})
	}
	return out
}

// reach is how far ahead the panel looks: to the end of the path and of the window, a minute at least.
func (a axis) reach(s *v1alpha1.OutlookStatus) float64 {
	reach := max(s.Window.Duration.Seconds(), time.Minute.Seconds())
	if n := len(s.Path); n > 0 {
		reach = max(reach, a.at(s.Path[n-1].Time.Time))
	}
	return reach
}

// hours is a length of the past in words, in whole hours where it is several.
func hours(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d > 2*time.Hour {
		return span(d.Round(time.Hour))
	}
	return span(d.Round(time.Minute))
}

// top is that of a panel: a little above its highest mark, and 1 where all is zero or nothing is known.
func top(room float64, lines ...[]chart.Point) float64 {
	return cmp.Or(room*chart.Highest(lines...), 1)
}

// headline is the outlook in a line.
func headline(s *v1alpha1.OutlookStatus) string {
	if s.Served == nil {
		return s.State + ": nothing is served"
	}
	served := "serves " + number(s.Served)
	if s.Unit != "" {
		served += " " + s.Unit
	}
	parts := []string{served}
	switch {
	case s.Quantile != nil:
		parts = append(parts, "quantile "+level(s)+" of the maximum over the next "+span(s.Window.Duration))
	case s.CostRatio != nil:
		parts = append(parts, "late costs "+level(s)+" an idle replica over the next "+span(s.Window.Duration))
	case s.Late != nil:
		parts = append(parts, level(s)+" over the next "+span(s.Window.Duration))
	}
	return strings.Join(append(parts, s.Model, s.State), "  ·  ")
}

// cut is a text that has room in a picture.
func cut(text string) string {
	const most = 140
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
