package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/chart"
)

// Pixels: a column and a row of Grafana's grid, the gap between panels, and the width of a label's character.
const (
	column, row, gap = 58.0, 38.0, 8.0
	header           = 64.0
	character        = 6.7
	lineTall         = 17.0
	points           = 289
)

// drawing is a dashboard that is being drawn.
type drawing struct {
	*chart.Sheet
	view

	dashboard *dashboardtest.Dashboard
	choice    dashboardtest.Choice
}

func draw(ctx context.Context, d *dashboardtest.Dashboard, v view, choice dashboardtest.Choice) (*chart.Sheet, error) {
	tall := 0.0
	for _, p := range d.Panels {
		tall = max(tall, p.GridPos.Y+p.GridPos.H)
	}
	sheet := &chart.Sheet{
		Width:       24*column + 2*gap,
		Height:      header + row*tall + gap,
		Title:       d.Title,
		Description: d.Description,
	}
	sheet.Text("title", 2*gap, 28, d.Title)
	var chosen []string
	for _, variable := range d.Templating.List {
		if values := choice.Values[variable.Name]; len(values) > 0 {
			chosen = append(chosen, variable.Label+": "+strings.ReplaceAll(values[0], dashboardtest.All, "All"))
		}
	}
	sheet.Text("subtitle", 2*gap, 50, strings.Join(chosen, " · "))
	out := drawing{Sheet: sheet, view: v, dashboard: d, choice: choice}
	for i := range d.Panels {
		if err := out.panel(ctx, &d.Panels[i]); err != nil {
			return nil, fmt.Errorf("panel %q: %w", d.Panels[i].Title, err)
		}
	}
	return sheet, nil
}

// panel draws a panel at its place.
func (d *drawing) panel(ctx context.Context, p *dashboardtest.Panel) error {
	x, y := gap+column*p.GridPos.X, header+row*p.GridPos.Y
	width, tall := column*p.GridPos.W-gap, row*p.GridPos.H-gap
	if p.Type == "row" {
		d.Text("title", x+gap, y+24,
			strings.ReplaceAll(p.Title, "$forecast", strings.Join(d.choice.Values["forecast"], "")))
		return nil
	}
	d.frame(x, y, width, tall)
	d.Text("heading", x+gap, y+20, p.Title)
	if p.Type == "stat" {
		return d.number(ctx, p, x+gap, y+tall/2+20)
	}
	return d.lines(ctx, p, box{x + gap, y + 30, width - 2*gap, tall - 30})
}

// frame is the border of a panel: a drawing of a line.
func (d *drawing) frame(x, y, width, tall float64) {
	const above = 12 // What a chart leaves free.
	c := &chart.Chart{X: chart.Axis{To: 1}, Y: chart.Axis{To: 1}, Tall: tall, Across: width, Up: tall}
	c.Line("paid", chart.Point{}, chart.Point{X: 1}, chart.Point{X: 1, Y: 1}, chart.Point{Y: 1}, chart.Point{})
	d.Chart(x, y-above, width, c)
}

// number draws the one value of a panel.
func (d *drawing) number(ctx context.Context, p *dashboardtest.Panel, x, y float64) error {
	query, err := d.dashboard.Interpolate(p.Targets[0].Expr, d.choice, dashboardtest.EscapeQuotes)
	if err != nil {
		return err
	}
	vector, err := d.store.Instant(ctx, query, d.end)
	if err != nil {
		return err
	}
	text := "No data"
	if len(vector) > 0 {
		text = formatted(vector[0].F, p)
	}
	d.Text("title", x, y, text)
	return nil
}

// line is a series of a panel.
type line struct {
	name, class string
	points      []chart.Point
}

// query runs the queries of a panel and names their series.
func (d *drawing) query(ctx context.Context, p *dashboardtest.Panel) ([]line, error) {
	var out []line
	step := d.span / (points - 1)
	for _, target := range p.Targets {
		query, err := d.dashboard.Interpolate(target.Expr, d.choice, dashboardtest.EscapeQuotes)
		if err != nil {
			return nil, err
		}
		series, err := d.store.Range(ctx, query, d.end.Add(-d.span), step, points)
		if err != nil {
			return nil, err
		}
		for _, s := range series {
			l := line{name: legend(target.LegendFormat, s.Labels), points: make([]chart.Point, points)}
			l.class = fmt.Sprintf("model c%d", len(out)%9)
			for i, v := range s.Values {
				l.points[i] = chart.Point{X: (time.Duration(i) * step).Seconds(), Y: v}
			}
			out = append(out, l)
		}
	}
	for i := range out {
		if slices.ContainsFunc(p.FieldConfig.Overrides,
			func(o dashboardtest.Override) bool { return dashed(o, out[i].name) }) {
			out[i].class += " free"
		}
	}
	return out, nil
}

// dashed reports that an override makes a series a dashed line.
func dashed(o dashboardtest.Override, name string) bool {
	if o.Matcher.ID != "byRegexp" || len(o.Properties) == 0 || o.Properties[0].ID != "custom.lineStyle" {
		return false
	}
	matched, err := regexp.MatchString(strings.Trim(o.Matcher.Options, "/"), name)
	return matched && err == nil
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// legend is the name of a series.
func legend(format string, labels map[string]string) string {
	return placeholder.ReplaceAllStringFunc(format,
		func(found string) string { return labels[strings.Trim(found, "{}")] })
}

// box is a place on the sheet.
type box struct{ x, y, width, tall float64 }

// lines draws a time series panel.
func (d *drawing) lines(ctx context.Context, p *dashboardtest.Panel, b box) error {
	all, err := d.query(ctx, p)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		d.Text("label", b.x+b.width/2-25, b.y+b.tall/2, "No data")
		return nil
	}
	stack(p, all)
	named(all)
	rows := legendRows(all, b.width)
	const around = 12 + 26 // What a chart needs above and below.
	c := &chart.Chart{
		X: chart.TimeAxis(d.end.Add(-d.span), 0, d.span.Seconds()), Y: valueAxis(p, all),
		Tall: b.tall - around - float64(len(rows))*lineTall - gap, Across: b.width, Up: b.tall,
	}
	drawn := all
	if all[0].class == "far" {
		c.Area("far", all[1].points, all[0].points)
		c.Area("near", all[2].points, all[1].points)
		drawn = all[2:]
	}
	for _, l := range drawn {
		c.Line(l.class, l.points...)
	}
	for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
		if s.Value != nil && *s.Value >= c.Y.From && *s.Value <= c.Y.To {
			c.Line("objective", chart.Point{Y: *s.Value}, chart.Point{X: d.span.Seconds(), Y: *s.Value})
		}
	}
	d.Chart(b.x, b.y, b.width, c)
	for i, keys := range rows {
		d.Legend(b.x, b.y+b.tall-gap-float64(len(rows)-1-i)*lineTall, keys...)
	}
	return nil
}

// named gives the quantiles of a forecast and the actual value beside them their own classes.
func named(all []line) {
	if !slices.ContainsFunc(all, func(l line) bool { return l.name == "actual" }) {
		return
	}
	classes := map[string]string{"50 %": "median", "95 %": "near", "99 %": "far", "actual": "actual"}
	for i := range all {
		all[i].class = cmp.Or(classes[all[i].name], all[i].class)
	}
}

// stack adds up the series where the panel stacks them.
func stack(p *dashboardtest.Panel, all []line) {
	if p.FieldConfig.Defaults.Custom.Stacking.Mode != "normal" {
		return
	}
	for i := 1; i < len(all); i++ {
		for j := range all[i].points {
			all[i].points[j].Y += all[i-1].points[j].Y
		}
	}
}

// legendRows are the keys of the series, in rows that fit.
func legendRows(all []line, width float64) [][]chart.LegendKey {
	rows, used := [][]chart.LegendKey{nil}, 0.0
	for _, l := range all {
		key := chart.LineKey(l.class, l.name)
		if l.class == "near" || l.class == "far" {
			key = chart.AreaKey(l.class, l.name)
		}
		needs := character*float64(len(l.name)) + 45
		if used+needs > width && used > 0 {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], key)
		used += needs
	}
	return rows
}

// valueAxis spans the values, as Grafana does: from the minimum that the panel sets, else from the lowest value.
func valueAxis(p *dashboardtest.Panel, all []line) chart.Axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range all {
		for _, at := range l.points {
			if !math.IsNaN(at.Y) {
				low, high = min(low, at.Y), max(high, at.Y)
			}
		}
	}
	if m := p.FieldConfig.Defaults.Min; m != nil {
		low = *m
	}
	if !(high > low) {
		high = low + 1
	}
	margin := (high - low) / 10
	if p.FieldConfig.Defaults.Min == nil {
		low -= margin
	}
	return axisOf(p, low, high+margin)
}

// axisOf is an axis in the panel's unit, which is round in the larger unit where values are large.
func axisOf(p *dashboardtest.Panel, low, high float64) chart.Axis {
	scale := 1.0
	larger := map[string][]float64{"s": {60, 3600, 24 * 3600}, "bytes": {1 << 20, 1 << 30}}
	for _, unit := range larger[p.FieldConfig.Defaults.Unit] {
		if high > 3*unit {
			scale = unit
		}
	}
	axis := chart.Axis{From: low, To: high, Ticks: chart.RoundTicks(low/scale, high/scale)}
	for i := range axis.Ticks {
		axis.Ticks[i].Value *= scale
		axis.Ticks[i].Label = formatted(axis.Ticks[i].Value, p)
	}
	return axis
}
