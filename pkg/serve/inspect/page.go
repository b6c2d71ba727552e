package inspect

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed page.html
var pageSource string

//nolint:gochecknoglobals // Parsed once.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number, "percent": percent, "late": lateShare, "multiple": multiple, "times": times, "replicas": Replicas,
	"uncalibrated": Uncalibrated,
}).Parse(pageSource))

// page is what the template shows.
type page struct {
	*v1alpha1.Outlook

	Now       time.Time
	Plot      template.HTML
	Facts     []fact
	Objective *objective
	// Repairs are the newest times at which the demand was not simply what was read.
	Repairs []repairRow
	HPA     hpaExample
}

// fact is one number on the page with its name and what it means.
type fact struct{ Name, Value, Unit, Note string }

// hpaExample fills the manifest that points an HPA at the Forecast. Target is empty where it is not known what a replica
// sustains.
type hpaExample struct {
	Namespace, Name, Kind, Workload, Target string
	Min, Max                                int32
}

// renderPage is the outlook as an HTML page that needs nothing beside itself.
func renderPage(o *v1alpha1.Outlook, now time.Time) ([]byte, error) {
	svg, err := drawing(o, now, false)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = pageTemplate.Execute(&out, page{
		Outlook: o, Now: now.UTC(),
		Plot:      template.HTML(svg), //nolint:gosec // Our own drawing, which escapes its strings.
		Facts:     facts(&o.Status, now),
		Objective: objectiveOf(&o.Status),
		Repairs:   repairRows(o.Status.Repairs, o.Status.Step.Duration),
		HPA:       example(o),
	})
	if err != nil {
		return nil, fmt.Errorf("page of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return []byte(printable.Text(out.String())), nil
}

func facts(s *v1alpha1.OutlookStatus, now time.Time) []fact {
	return []fact{
		{"Served", number(s.Served), unit(s, s.Served), servedNote(s)},
		{"Now", number(s.Observed), unit(s, s.Observed), "observed, " + Age(s, now) + " ago"},
		{"Lead time", span(s.LeadTime.Duration.Duration), "", cmp.Or(s.LeadTime.Source, unknown)},
		{"Window", span(s.Window.Duration), "", "how far the value looks ahead"},
		{"Model", cmp.Or(s.Model, unknown), "", chosenTitle(s)},
		{"Skill", percent(s.Skill), "", "less " + lossOf(s) + " than the last value"},
		{"Coverage", percent(s.Coverage), "", "of past windows stayed within the served value"},
	}
}

// lossOf is what the model was chosen by.
func lossOf(s *v1alpha1.OutlookStatus) string {
	if s.Outcome != nil {
		return string(decide.Bill)
	}
	return string(decide.Pinball)
}

// chosenTitle is the chosen model in the field's words; the fallback has none.
func chosenTitle(s *v1alpha1.OutlookStatus) string {
	for _, c := range s.Candidates {
		if c.Chosen {
			return c.Title
		}
	}
	return ""
}

// unit of a number that is known.
func unit(s *v1alpha1.OutlookStatus, of *float64) string {
	if of == nil {
		return ""
	}
	return s.Unit
}

func servedNote(s *v1alpha1.OutlookStatus) string {
	switch {
	case s.Served == nil:
		return "nothing is served: the HPA keeps what it has"
	case s.Late != nil:
		return "so that at most " + level(s)
	case s.CostRatio != nil:
		return "the cheapest where late demand costs " + level(s) + " an idle replica"
	case s.Quantile != nil:
		return "quantile " + level(s) + " of the window's maximum"
	}
	return "the fallback"
}

func example(o *v1alpha1.Outlook) hpaExample {
	kind, workload, found := strings.Cut(o.Status.Workload, "/")
	if !found {
		kind, workload = "Deployment", o.Name
	}
	out := hpaExample{Namespace: o.Namespace, Name: o.Name, Kind: kind, Workload: workload, Min: 1, Max: 10}
	if fares := o.Status.Outcome; fares != nil && len(fares.Scalings) > 0 && fares.Scalings[0].Target != nil {
		s := fares.Scalings[0]
		out.Target = strconv.FormatFloat(*s.Target, 'f', -1, 64)
		if s.MaxReplicas < unbounded {
			out.Min, out.Max = s.MinReplicas, s.MaxReplicas
		}
	}
	return out
}

// StateClass is the state as a CSS class: what is well, what needs a look, what serves nothing.
func (p page) StateClass() string {
	switch p.Status.State {
	case "Ready":
		return "good"
	case "Warming", "FallingBack":
		return "fair"
	}
	return "poor"
}

// Time is a moment in words, UTC.
func (page) Time(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") }
