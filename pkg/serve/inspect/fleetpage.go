package inspect

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed fleet.html
var fleetSource string

// fleetTemplate has the style sheet of a Forecast's page.
//
//nolint:gochecknoglobals // Parsed once.
var fleetTemplate = template.Must(template.Must(pageTemplate.Clone()).New("fleet").
	Funcs(template.FuncMap{"span": humanize.Span}).Parse(fleetSource))

// fleetView is the data of the template.
type fleetView struct {
	*v1alpha1.FleetOutlook

	Style  template.CSS
	AsOf   string
	Facts  []fact
	Day    template.HTML // Empty without a day.
	Legend []pageKey
}

// renderFleet is a fleet as an HTML page without outside resources.
func renderFleet(o *v1alpha1.FleetOutlook, now time.Time) ([]byte, error) {
	s := &o.Status
	view := fleetView{FleetOutlook: o, Style: chart.Style(), AsOf: (*page)(nil).Time(now), Facts: []fact{
		{"GPUs", number(s.GPUs), "", "of the fleet"},
		{"Members", number(s.Members), "", "GPUs that the members hold or ask for"},
		{"Other", number(s.Other), "", "GPUs that other pods hold"},
	}}
	err := view.draw(now)
	var out bytes.Buffer
	if err == nil {
		err = fleetTemplate.Execute(&out, view)
	}
	if err != nil {
		return nil, fmt.Errorf("page of fleet %s/%s: %w", o.Namespace, o.Name, err)
	}
	return []byte(printable.Text(out.String())), nil
}

// draw sets the chart of the day ahead and its legend: the members' demand, stacked with the largest at the bottom, and the GPUs that
// they may use.
func (v *fleetView) draw(now time.Time) (err error) {
	d := v.Status.Day
	if d == nil {
		return nil
	}
	const length = time.Hour
	a := timeScale{now}
	steps := func(values []float64) []chart.Point {
		out := make([]chart.Point, 0, 2*len(values))
		for i, value := range values {
			out = append(out, a.point(d.Hours[i].Time, &value), a.point(d.Hours[i].Add(length), &value))
		}
		return out
	}
	limit := steps(slices.Repeat([]float64{d.GPUs}, len(d.Hours)))
	c := &chart.Chart{
		X:    chart.TimeAxis(now, limit[0].X, limit[len(limit)-1].X),
		Y:    chart.NumberAxis(0, panelTop(1.06, limit, steps(d.Total))),
		Tall: panelTall, Across: sheetWidth, Up: panelTall,
		ID: "day", Title: "The day ahead",
		Description: cmp.Or(v.Status.Shortage, "The members' demand stays below the GPUs."),
	}
	c.X.Label, c.Y.Label = "time of day (UTC)", "GPUs"
	below := steps(make([]float64, len(d.Hours)))
	for _, b := range stacked(d) {
		above := steps(b.top)
		c.Area("member "+b.class, below, above)
		below = above
		v.Legend = append(v.Legend, pageKey{"member " + b.class, b.name})
	}
	c.Line("served", limit...)
	v.Legend = append(v.Legend, pageKey{"line served", "GPUs that the members may use"})
	v.Day, err = c.SVG()
	return err
}

// band is a member, or several, on top of larger ones. top is the sum of them all in each hour.
type band struct {
	name, class string
	top         []float64
}

// stacked returns the members from the largest to the smallest. Those beyond the colors of the chart are one band.
func stacked(d *v1alpha1.FleetDay) []band {
	const colors = 8
	total := func(m *v1alpha1.FleetMember) (sum float64) {
		for _, v := range m.GPUs {
			sum += v
		}
		return sum
	}
	members := slices.Clone(d.Members)
	slices.SortStableFunc(members, func(x, y v1alpha1.FleetMember) int { return cmp.Compare(total(&y), total(&x)) })
	out := []band{}
	top := make([]float64, len(d.Hours))
	for i := range members {
		m := &members[i]
		for hour, gpus := range m.GPUs {
			top[hour] += gpus
		}
		name := m.Name
		if m.Unknown {
			name += " (partly unknown: counts with what it holds now)"
		}
		if i < colors {
			out = append(out, band{name, fmt.Sprintf("p%d", i+1), slices.Clone(top)})
		}
	}
	if more := len(members) - colors; more > 0 {
		out = append(out, band{humanize.Plural(more, "other member"), "p0", top})
	}
	return out
}
