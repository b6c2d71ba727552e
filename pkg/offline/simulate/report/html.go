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

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed page
var pages embed.FS

//nolint:gochecknoglobals // Parsed once.
var templates = template.Must(template.ParseFS(pages, "page/*.html"))

// page is what the templates show.
type page struct {
	ChartStyle                template.CSS
	Verdict, Capacity, Period string
	Interrupted               string
	Tiles                     []tile
	// Timelines are the race between before and Forewarm; Others are folded.
	Timelines, Others []timelineChart
	Closeup           *closeup
	Frontier          *frontier
	Columns           []column
	Rows              []row
	Objective         string
	Sections          []section
	Facts             []fact
	Notes             []string
}

// tile is a main figure, compared with that of the autoscaler with its best target.
type tile struct{ Name, Value, Note string }

// HTML writes a comparison as one self-contained page without scripts, for light and dark, paper and telephones. It
// returns the error of the writer.
func HTML(w io.Writer, c *compare.Comparison) error {
	a := &c.Assumptions
	table := columns(a)
	shown := page{
		ChartStyle: chart.Style(),
		Verdict:    cmp.Or(c.Verdict, c.TooShort),
		Capacity:   describeCapacity(a),
		Period:     formatDates(a),
		Tiles:      tiles(c),
		Closeup:    newCloseup(c),
		Frontier:   newFrontier(c),
		Columns:    table,
		Rows:       rows(c, table),
		Objective:  humanize.ShareAsWritten(a.Objective),
		Sections:   sections(c),
		Facts:      facts(a),
		Notes:      c.Notes,
	}
	if c.Partial {
		shown.Interrupted = interrupted
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

// tiles are forewarm's numbers; none where one of the two was not played.
func tiles(c *compare.Comparison) []tile {
	a, ours, best := &c.Assumptions, c.Find(compare.Forewarm), c.Find(compare.BestTarget)
	if ours == nil || best == nil {
		return nil
	}
	const beside = " with the best target"
	name := "Late"
	if a.BadHours {
		name = "In bad hours"
	}
	hours, limited := gpuHours(a, ours), humanize.Share(ours.Report.LimitedShare(a.BadHours))
	out := []tile{{"GPU-hours", humanize.Amount(hours), comparedWithBest(hours, gpuHours(a, best), humanize.Amount)}}
	if a.GPUPrice > 0 {
		priced := func(v float64) string { return "$" + humanize.Amount(v) }
		out = append(out,
			tile{"Cost", priced(dollars(a, ours)), comparedWithBest(dollars(a, ours), dollars(a, best), priced)})
	}
	return append(
		out,
		tile{
			name + ", objective " + humanize.ShareAsWritten(a.Objective),
			limited,
			humanize.Share(best.Report.LimitedShare(a.BadHours)) + beside,
		},
		tile{"Cold starts", strconv.Itoa(ours.Report.ColdStarts), strconv.Itoa(best.Report.ColdStarts) + beside},
	)
}

// comparedWithBest compares a number with that of the best target, in words.
func comparedWithBest(ours, best float64, told func(float64) string) string {
	if !(best > 0) || !humanize.Known(ours) {
		return told(best) + " with the best target"
	}
	by := ours/best - 1
	size := strconv.FormatFloat(100*math.Abs(by), 'f', 1, 64) + "%"
	switch {
	case math.Abs(by) < 0.0005:
		return "as with the best target"
	case by < 0:
		return size + " less than the " + told(best) + " with the best target"
	}
	return size + " more than the " + told(best) + " with the best target"
}
