package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/report"
)

//go:embed page
var pages embed.FS

//nolint:gochecknoglobals // Parsed once.
var templates = template.Must(report.Templates().ParseFS(pages, "page/*.html"))

// page is the data of the templates.
type page struct {
	ChartStyle template.CSS
	// Headline is the sentence that has the number; empty without a verdict. Verdict is the rest of it, or why there is none.
	Headline, Verdict, Capacity, Period string
	Interrupted                         string
	Tiles                               []tile
	// Timelines are the race between before and Forewarm; Others are folded.
	Timelines, Others []timelineChart
	Closeup           *closeup
	Frontier          *frontier
	Policies          []*report.Record
	Answers           []answer
	Facts             *report.Record
	Notes             []string
}

// tile is a main figure, compared with the figure of the autoscaler as written.
type tile struct{ Name, Value, Note string }

// HTML writes a comparison as one self-contained page without scripts, for light and dark, paper and telephones. It
// returns the error of the writer.
func HTML(w io.Writer, c *compare.Comparison) error {
	a, f := &c.Assumptions, newFigures(c)
	shown := page{
		ChartStyle:  chart.Style(),
		Verdict:     cmp.Or(c.Verdict, c.NoVerdict),
		Capacity:    describeCapacity(a),
		Period:      formatDates(a),
		Tiles:       tiles(c),
		Interrupted: interrupted(c),
		Closeup:     newCloseup(c),
		Frontier:    newFrontier(c),
		Policies:    report.Records(c.Policies, f.policy),
		Answers:     answers(c),
		Facts:       f.assumptions(),
		Notes:       c.Notes,
	}
	if c.Judged != nil {
		shown.Headline = c.Judged.Headline()
		shown.Verdict = strings.TrimSpace(strings.TrimPrefix(c.Verdict, shown.Headline))
	}
	for _, drawn := range timelineCharts(c.Policies, "course") {
		if drawn.Policy == compare.HPA || drawn.Policy == compare.Forewarm {
			shown.Timelines = append(shown.Timelines, drawn)
		} else {
			shown.Others = append(shown.Others, drawn)
		}
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, "page.html", shown); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	if _, err := io.WriteString(w, printable.Text(out.String())); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// tiles returns the figures of Forewarm; none if one of the two policies was not simulated.
func tiles(c *compare.Comparison) []tile {
	f, ours, hpa := newFigures(c), c.Find(compare.Forewarm), c.Find(compare.HPA)
	if ours == nil || hpa == nil {
		return nil
	}
	var out []tile
	add := func(name, value, note string) { out = append(out, tile{name, value, note}) }
	hours, before := f.gpuHours(ours), f.gpuHours(hpa)
	add("GPU-hours", humanize.Amount(hours), comparedWithHPA(hours, before, humanize.Amount))
	if f.GPUPrice > 0 {
		priced := func(v float64) string { return "$" + humanize.Amount(v) }
		add("Cost", priced(hours*f.GPUPrice), comparedWithHPA(hours*f.GPUPrice, before*f.GPUPrice, priced))
	}
	if f.BadHours {
		add("Bad hours", strconv.Itoa(ours.Report.BadHours.Count), strconv.Itoa(hpa.Report.BadHours.Count)+withHPA)
	}
	add("Late demand", humanize.Share(ours.Report.LateShare()), humanize.Share(hpa.Report.LateShare())+withHPA)
	add("Cold starts", strconv.Itoa(ours.Report.ColdStarts), strconv.Itoa(hpa.Report.ColdStarts)+withHPA)
	return out
}

const withHPA = " with your HPA"

// comparedWithHPA compares a number with that of the autoscaler as written, as a text.
func comparedWithHPA(ours, hpa float64, format func(float64) string) string {
	if !(hpa > 0) || !humanize.Known(ours) {
		return format(hpa) + withHPA
	}
	by := ours/hpa - 1
	size := humanize.Percent(math.Abs(by))
	switch {
	case math.Abs(by) < 0.0005:
		return "the same as" + withHPA
	case by < 0:
		return size + " less than the " + format(hpa) + withHPA
	}
	return size + " more than the " + format(hpa) + withHPA
}
