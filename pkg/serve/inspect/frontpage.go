package inspect

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed frontpage.html
var frontSource string

// frontTemplate has the style sheet of a Forecast's page.
//
//nolint:gochecknoglobals // Parsed once.
var frontTemplate = template.Must(template.Must(pageTemplate.Clone()).New("front").Parse(frontSource))

// maxFrontRows bounds the page, to half a megabyte. Nobody reads more rows.
const maxFrontRows = 500

// frontPage is the data of the template.
type frontPage struct {
	Style template.CSS
	// Namespace is empty if the page lists all namespaces.
	Namespace, Time, Summary string
	// JSON is the link to the same list as JSON.
	JSON string
	Rows []frontRow
}

// frontRow is one Forecast.
type frontRow struct {
	Namespace, Name, Link, State, Class string
	// Reasons are why it needs a look.
	Reasons               []string
	Objective, Late, Cost string
	Missed                bool
	Spark                 template.HTML
}

// renderFrontPage lists the entries of a namespace, or of all where it is empty, what needs a look first.
func renderFrontPage(entries []*snapshot.Entry, namespace string, now time.Time) ([]byte, error) {
	slices.SortStableFunc(entries, func(a, b *snapshot.Entry) int { return int(urgencyOf(a, now) - urgencyOf(b, now)) })
	front := frontPage{
		Style: chart.Style(), Namespace: namespace, Time: pageTime(now), JSON: "../../" + v1alpha1.Resource,
		Summary: frontSummary(entries, now), Rows: make([]frontRow, min(len(entries), maxFrontRows)),
	}
	if namespace == "" {
		front.JSON = apiPath + v1alpha1.Resource
	}
	for i := range front.Rows {
		var err error
		if front.Rows[i], err = newFrontRow(entries[i], now); err != nil {
			return nil, fmt.Errorf("front page: %s: %w", entries[i].Key, err)
		}
		front.Rows[i].Link = pageLink(entries[i].Key, namespace)
	}
	var out bytes.Buffer
	if err := frontTemplate.Execute(&out, front); err != nil {
		return nil, fmt.Errorf("front page: %w", err)
	}
	return []byte(printable.Text(out.String())), nil
}

// apiPath is the path of the API from the root of a standalone server.
const apiPath = "apis/" + v1alpha1.GroupName + "/" + v1alpha1.Version + "/"

// pageLink is the link to a Forecast's page. It is relative, because a proxy may add to the path: from the root of a
// standalone server, or from a namespace's front page.
func pageLink(key snapshot.Key, namespace string) string {
	if namespace != "" {
		return "../" + url.PathEscape(key.Name) + "/page"
	}
	return apiPath + "namespaces/" + url.PathEscape(key.Namespace) + "/" + v1alpha1.Resource + "/" +
		url.PathEscape(key.Name) + "/page"
}

// urgency is how urgently a Forecast needs a look.
type urgency int

const (
	notServing urgency = iota
	impaired
	missesObjective
	needsNoLook
)

func urgencyOf(e *snapshot.Entry, now time.Time) urgency {
	switch {
	case !e.StateAt(now).Serves():
		return notServing
	case slices.ContainsFunc(e.Conditions, isProblem):
		return impaired
	case e.Objective != nil && e.Objective.Verdict.Misses():
		return missesObjective
	}
	return needsNoLook
}

// isProblem reports whether a condition needs a look. Not so a workload that is scaled to zero, and an objective that is
// not known to be missed: the verdict decides that.
func isProblem(c snapshot.Condition) bool {
	switch c.Type {
	case snapshot.ConditionUncalibrated, snapshot.ConditionSaturated:
		return true // These are present only if something is wrong.
	case snapshot.ConditionObjective, snapshot.ConditionScaledToZero:
		return false
	}
	return !c.True
}

// frontSummary counts what needs a look, and what is not shown.
func frontSummary(entries []*snapshot.Entry, now time.Time) string {
	looks := 0
	for _, e := range entries {
		if urgencyOf(e, now) < needsNoLook {
			looks++
		}
	}
	var text string
	switch {
	case len(entries) == 0:
		return "There are no Forecasts yet. Create one, and it is listed here."
	case looks == 0:
		text = fmt.Sprintf("None of %d needs a look.", len(entries))
	case looks == 1:
		text = fmt.Sprintf("1 of %d needs a look, and comes first.", len(entries))
	default:
		text = fmt.Sprintf("%d of %d need a look, and come first.", looks, len(entries))
	}
	if more := len(entries) - maxFrontRows; more > 0 {
		text += fmt.Sprintf(" Not shown: %d more. The command below lists all.", more)
	}
	return text
}

func newFrontRow(e *snapshot.Entry, now time.Time) (frontRow, error) {
	light := *e // The row shows nothing of these, and they are most of an outlook.
	light.Candidates, light.Path, light.Past, light.Classifications = nil, nil, nil, nil
	s := outlookStatus(&light, now)
	spark, err := sparkline(&s, now)
	if err != nil {
		return frontRow{}, err
	}
	row := frontRow{
		Namespace: e.Key.Namespace, Name: e.Key.Name, State: s.State, Class: stateClass(s.State),
		Reasons: lookReasons(e, &s, now), Objective: objectiveWords(&s), Late: unknown, Cost: unknown, Spark: spark,
	}
	if o := s.Objective; o != nil {
		row.Late, row.Cost = lateShare(o.Served.Late), significant(o.Served.RelativeCost)
		row.Missed = objective.Verdict(o.Verdict).Misses()
	}
	return row, nil
}

// objectiveWords are the setting of the served value, and its name where that is not plain.
func objectiveWords(s *v1alpha1.OutlookStatus) string {
	switch {
	case s.Quantile != nil:
		return "quantile " + objectiveText(s)
	case s.CostRatio != nil:
		return "cost ratio " + objectiveText(s)
	}
	return objectiveText(s)
}

// lookReasons are why a Forecast needs a look. Its page has longer texts in full.
func lookReasons(e *snapshot.Entry, s *v1alpha1.OutlookStatus, now time.Time) []string {
	const most = 300
	if urgencyOf(e, now) == notServing {
		return []string{printable.Clip(s.Reason, most)}
	}
	var out []string
	for _, c := range e.Conditions {
		if isProblem(c) {
			out = append(out, printable.Clip(c.Type+": "+c.Message, most))
		}
	}
	if e.Objective != nil && e.Objective.Verdict.Misses() {
		out = append(out, (&objectivePanel{Objective: s.Objective}).Missed())
	}
	return out
}

// sparkline is the demand of the last day; empty if none is known.
func sparkline(s *v1alpha1.OutlookStatus, now time.Time) (template.HTML, error) {
	const width, height = 160, 30
	points := highestOfGroups((timeScale{now}).recent(s), width/2)
	top := chart.Highest(points)
	if !slices.ContainsFunc(points, func(p chart.Point) bool { return humanize.Known(p.Y) }) {
		return "", nil
	}
	c := &chart.Chart{
		X: chart.Axis{From: -24 * time.Hour.Seconds()}, Y: chart.Axis{To: panelTop(1.1, points)},
		Tall: height, Across: width, Up: height, Title: "at most " + number(&top),
	}
	if s.Unit != "" {
		c.Title += " " + clipped(s.Unit)
	}
	c.Area("near", nil, points)
	c.Line("observed", points...)
	return c.Spark()
}

// highestOfGroups keeps the highest known point of each group, so that at most so many points are left and every peak is
// among them. A group without a known point remains a gap.
func highestOfGroups(points []chart.Point, most int) []chart.Point {
	size := max(1, (len(points)+most-1)/most)
	var out []chart.Point
	for group := range slices.Chunk(points, size) {
		highest := chart.Point{X: group[0].X, Y: math.NaN()}
		for _, p := range group {
			if !(p.Y <= highest.Y) && humanize.Known(p.Y) {
				highest.Y = p.Y
			}
		}
		out = append(out, highest)
	}
	return out
}
