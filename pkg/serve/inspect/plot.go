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

// renderPlot draws the outlook as a standalone SVG picture: the last day with forecasts and actual peaks, and the forecast.
func renderPlot(o *v1alpha1.Outlook, now time.Time) ([]byte, error) {
	s := &o.Status
	sheet := chart.Sheet{
		Width:       sheetWidth,
		Title:       clipped(o.Namespace + "/" + o.Name + ": " + headline(s)),
		Description: plotDescription(s),
	}
	const top = 62
	sheet.Text("title", inset, 32, clipped(o.Namespace+" / "+o.Name))
	sheet.Text("subtitle", inset, 54, clipped(headline(s)))
	before, ahead := pastPanel(s, now), aheadPanel(s, now)
	sheet.Chart(inset, top, pastWidth, before)
	sheet.Chart(sheetWidth-inset-aheadWidth, top, aheadWidth, ahead)
	bottom := top + before.Height() + 22
	sheet.Height = bottom + inset
	legend := []chart.LegendKey{
		chart.LineKey("observed", "observed"),
		chart.LineKey("then", "served"),
		chart.DotKey("came", "actual window peak"),
		chart.LineKey("expected", "point forecast"),
		{Name: "from the median to the 0.8 and 0.95 quantiles", Draw: func(c *chart.Chart) {
			c.Box("far", chart.Point{}, chart.Point{X: 1, Y: 1})
			c.Box("near", chart.Point{}, chart.Point{X: 1, Y: 0.6})
		}},
		chart.LineKey("served", "served now, over the lead window"),
	}
	sheet.Legend(inset, bottom, append(legend, classificationKeys(s.Classifications)...)...)
	svg, err := sheet.SVG()
	if err != nil {
		return nil, fmt.Errorf("plot of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return svg, nil
}

// newPanel returns an empty chart over the seconds from now, with values from 0 to top.
func newPanel(s *v1alpha1.OutlookStatus, x chart.Axis, top, width float64) *chart.Chart {
	c := &chart.Chart{X: x, Y: chart.NumberAxis(0, top), Tall: panelTall, Across: width, Up: panelTall}
	c.Y.Label = "demand"
	if s.Unit != "" {
		c.Y.Label += ", " + clipped(s.Unit)
	}
	return c
}

// timeScale converts times to seconds from now, which keeps their precision in the drawing.
type timeScale struct{ now time.Time }

func (a timeScale) at(t time.Time) float64 { return t.Sub(a.now).Seconds() }

// point is a time and a value; its Y is NaN if there is no value.
func (a timeScale) point(at time.Time, value *float64) chart.Point {
	if value == nil {
		return chart.Point{X: a.at(at), Y: math.NaN()}
	}
	return chart.Point{X: a.at(at), Y: *value}
}

// recent returns the observed demand up to the newest sample.
func (a timeScale) recent(s *v1alpha1.OutlookStatus) []chart.Point {
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

// recentFrom returns the observed demand from a time on, so that an older peak does not flatten the forecast.
func (a timeScale) recentFrom(s *v1alpha1.OutlookStatus, from float64) []chart.Point {
	recent := a.recent(s)
	for len(recent) > 1 && recent[1].X < from {
		recent = recent[1:]
	}
	return recent
}

// pastPanel draws the last day: the observed demand, the served values, and the actual window peaks.
func pastPanel(s *v1alpha1.OutlookStatus, now time.Time) *chart.Chart {
	a := timeScale{now}
	recent := a.recent(s)
	var then, came []chart.Point
	for _, forecast := range s.Past {
		then = append(then, a.point(forecast.Time.Time, forecast.Forecast))
		came = append(came, a.point(forecast.Time.Time, forecast.Actual))
	}
	c := newPanel(s, chart.TimeAxis(now, a.earliest(s), 0), panelTop(1.06, recent, then, came), pastWidth)
	c.X.Label = "time of day (UTC), the last " + hours(-c.X.From)
	shadeClassified(c, a, s.Classifications)
	c.Dots("came", came...)
	c.Line("then", then...)
	c.Line("observed", recent...)
	return c
}

// earliest returns the start of the panel of the last day. It is the time of the oldest value, between an hour and a day ago.
func (a timeScale) earliest(s *v1alpha1.OutlookStatus) float64 {
	oldest := -time.Hour.Seconds()
	if len(s.Recent) > 0 {
		oldest = min(oldest, a.at(s.Recent[0].Time.Time))
	}
	if len(s.Past) > 0 {
		oldest = min(oldest, a.at(s.Past[0].Time.Time))
	}
	return math.Floor(max(oldest, -24*time.Hour.Seconds()))
}

// aheadPanel draws the near future up to the end of the path and of the window, and at least a minute: the end of the observed demand, the
// quantiles of the path, and the served value.
func aheadPanel(s *v1alpha1.OutlookStatus, now time.Time) *chart.Chart {
	a := timeScale{now}
	reach := max(s.Window.Duration.Seconds(), time.Minute.Seconds())
	if n := len(s.Path); n > 0 {
		reach = max(reach, a.at(s.Path[n-1].Time.Time))
	}
	from, window := -reach/2, s.Window.Duration.Seconds()
	recent, path := a.recentFrom(s, from), a.fan(s.Path)
	var served []chart.Point
	if s.Served != nil {
		served = []chart.Point{{X: 0, Y: *s.Served}, {X: window, Y: *s.Served}}
	}
	// The factor leaves room for the number above the served value.
	highest := panelTop(1.12, recent, path.median, path.near, path.far, path.expected, served)
	c := newPanel(s, chart.TimeAxis(now, from, reach), highest, aheadWidth)
	c.X.Label = "time of day (UTC), now and ahead"
	if len(s.Path) > 0 && s.PathModel != s.Model {
		c.X.Label += " (path: " + clipped(s.PathModel) + ")"
	}
	shadeClassified(c, a, s.Classifications)
	path.draw(c)
	c.Line("observed", recent...)
	c.Line("now", chart.Point{}, chart.Point{Y: highest})
	if served != nil {
		c.Line("served", served...)
		c.Note("served", served[0], number(s.Served), false)
	}
	return c
}

// fan has the points of a path and its quantiles 0.5, 0.8 and 0.95.
type fan struct{ expected, median, near, far []chart.Point }

func (a timeScale) fan(path []v1alpha1.PathStep) fan {
	out := fan{median: a.quantile(path, "0.5"), near: a.quantile(path, "0.8"), far: a.quantile(path, "0.95")}
	for _, step := range path {
		out.expected = append(out.expected, a.point(step.Time.Time, step.Point))
	}
	return out
}

func (f fan) draw(c *chart.Chart) {
	c.Area("far", f.median, f.far)
	c.Area("near", f.median, f.near)
	c.Line("expected", f.expected...)
}

// quantile returns a quantile of the path; NaN at steps without it.
func (a timeScale) quantile(path []v1alpha1.PathStep, level string) []chart.Point {
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

// hours formats a duration. It is rounded to hours if it is longer than two hours.
func hours(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d > 2*time.Hour {
		return span(d.Round(time.Hour))
	}
	return span(d.Round(time.Minute))
}

// panelTop returns the top of a panel: a little above the highest mark, or 1 if all marks are zero or nothing is known.
func panelTop(room float64, lines ...[]chart.Point) float64 {
	return cmp.Or(room*chart.Highest(lines...), 1)
}

// headline describes the outlook in one line.
func headline(s *v1alpha1.OutlookStatus) string {
	if s.Served == nil {
		return s.State + ": no value is served"
	}
	served := "serves " + number(s.Served)
	if s.Unit != "" {
		served += " " + s.Unit
	}
	parts := []string{served}
	switch {
	case PauseMessage(s) != "":
		parts = append(parts, "paused")
	case s.Quantile != nil:
		parts = append(parts, ObjectiveText(s)+" of the peak over the next "+span(s.Window.Duration))
	case s.CostRatio != nil:
		parts = append(parts, ObjectiveText(s)+" over the next "+span(s.Window.Duration))
	case s.Late != nil || s.BadHours != nil:
		parts = append(parts, "at most "+ObjectiveText(s)+" over the next "+span(s.Window.Duration))
	}
	return strings.Join(append(parts, s.Model, s.State), "  ·  ")
}

// clipped shortens a text so that it fits into a picture.
func clipped(text string) string {
	const most = 140
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
