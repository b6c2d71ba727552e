package inspect

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed frontpage.html
var frontSource string

// frontTemplate has the style sheet of a Forecast's page.
//
//nolint:gochecknoglobals // Parsed once.
var frontTemplate = template.Must(template.Must(pageTemplate.Clone()).New("front").
	Funcs(template.FuncMap{"objective": objectiveText}).Parse(frontSource))

// maxFrontRows bounds the page, to about a megabyte.
const maxFrontRows = 500

// frontPage is the data of the template.
type frontPage struct {
	*page

	// Namespace is empty if the page lists all namespaces; API is the relative path to what it lists.
	Namespace, API string
	Rows           []frontRow
	// Looks are how many Forecasts need a look, More how many are not shown, of Total.
	Looks, More, Total int
}

// frontRow is one Forecast.
type frontRow struct {
	*page

	Link    string
	Reasons []string
	Missed  bool
	Spark   template.HTML

	entry *snapshot.ForecastState
	order int
}

// renderFrontPage lists the entries of a namespace, or of all where it is empty, what needs a look first.
func renderFrontPage(entries []*snapshot.ForecastState, namespace string, now time.Time) ([]byte, error) {
	front := frontPage{
		page:      &page{Style: chart.Style(), Now: now},
		Namespace: namespace,
		API:       "../../",
		Total:     len(entries),
	}
	if namespace == "" {
		front.API = "apis/" + v1alpha1.GroupVersion().String() + "/" // From the root of a standalone server.
	}
	for _, e := range entries {
		row := newFrontRow(e, now)
		if row.order < needsNoLook {
			front.Looks++
		}
		front.Rows = append(front.Rows, row)
	}
	slices.SortStableFunc(front.Rows, func(a, b frontRow) int { return a.order - b.order })
	front.Rows = front.Rows[:min(len(entries), maxFrontRows)]
	front.More = len(entries) - len(front.Rows)
	for i := range front.Rows {
		if err := front.Rows[i].fill(namespace, front.API, now); err != nil {
			return nil, fmt.Errorf("front page: %w", err)
		}
	}
	var out bytes.Buffer
	if err := frontTemplate.Execute(&out, front); err != nil {
		return nil, fmt.Errorf("front page: %w", err)
	}
	return []byte(printable.Text(out.String())), nil
}

// The order of the rows: nothing is served, a condition is bad, the objective is missed, all is well.
const (
	notServing = iota
	impaired
	missesObjective
	needsNoLook
)

// newFrontRow is a row with its order and reasons only.
func newFrontRow(e *snapshot.ForecastState, now time.Time) frontRow {
	row := frontRow{page: &page{}, entry: e, order: needsNoLook}
	add := func(order int, why string) {
		const most = 300 // The Forecast's page has longer texts in full.
		row.order, row.Reasons = min(row.order, order), append(row.Reasons, printable.Clip(why, most))
	}
	if _, err := e.Answer(decide.Overrides{}, now); err != nil {
		add(notServing, strings.TrimPrefix(err.Error(), snapshot.ErrNotServing.Error()+": "))
		return row
	}
	for _, c := range e.Conditions {
		if isProblem(c) {
			add(impaired, c.Type+": "+c.Message)
		}
	}
	if row.Missed = e.Objective != nil && e.Objective.Verdict.Misses(); row.Missed {
		verdict := v1alpha1.Objective{Verdict: string(e.Objective.Verdict)}
		add(missesObjective, (&objectivePanel{Objective: &verdict}).Missed())
	}
	return row
}

// isProblem reports whether a condition needs a look. The verdict decides whether an objective is missed.
func isProblem(c snapshot.Condition) bool {
	switch c.Type {
	case snapshot.ConditionUncalibrated, snapshot.ConditionSaturated, snapshot.ConditionPaused:
		return true // These are present only if something is wrong.
	case snapshot.ConditionObjective, snapshot.ConditionScaledToZero:
		return false
	}
	return !c.True
}

// fill adds what is shown. The link is relative, because a proxy may add to the path.
func (r *frontRow) fill(namespace, api string, now time.Time) (err error) {
	e := brief(r.entry) // And without what else the row does not show, which is most of an outlook.
	e.Candidates, e.Path, e.Past, e.Events, e.Classifications = nil, nil, nil, nil, nil
	o := Outlook(e, now)
	r.Outlook, r.Link = &o, "../"+url.PathEscape(o.Name)+"/page"
	if namespace == "" {
		r.Link = api + "namespaces/" + url.PathEscape(o.Namespace) + "/" + v1alpha1.Resource + r.Link[len(".."):]
	}
	r.Spark, err = sparkline(&o.Status, now)
	return err
}

// sparkline is the demand of the last day; empty if none is known.
func sparkline(s *v1alpha1.OutlookStatus, now time.Time) (template.HTML, error) {
	const width, height, perGroup = 160, 30, 4
	var points []chart.Point
	// A point for each group is enough, and no peak may be lost.
	for group := range slices.Chunk((timeScale{now}).recent(s), perGroup) {
		highest := chart.Point{X: group[0].X, Y: math.NaN()}
		for _, p := range group {
			if !(p.Y <= highest.Y) && humanize.Known(p.Y) {
				highest.Y = p.Y
			}
		}
		points = append(points, highest)
	}
	if !slices.ContainsFunc(points, func(p chart.Point) bool { return humanize.Known(p.Y) }) {
		return "", nil
	}
	top := chart.Highest(points)
	c := &chart.Chart{
		X: chart.Axis{From: -24 * time.Hour.Seconds()}, Y: chart.Axis{To: panelTop(1.1, points)},
		Tall: height, Across: width, Up: height, Title: "at most " + number(&top) + " " + clipped(s.Unit),
	}
	c.Area("near", nil, points)
	c.Line("observed", points...)
	return c.Spark()
}
