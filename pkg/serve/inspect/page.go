package inspect

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

//go:embed page.html
var pageSource string

// page is what the template shows.
type page struct {
	*v1alpha1.Outlook

	Now       time.Time
	Plot      template.HTML
	Facts     []fact
	Objective *objective
	Models    []modelRow
	// Repairs are the newest times at which the demand was not simply what was read.
	Repairs []repairRow
	HPA     hpaExample
}

// fact is one number on the page with its name and what it means.
type fact struct{ Name, Value, Unit, Note string }

// modelRow is a candidate in words.
type modelRow struct {
	Name, Title, Loss, Skill, Coverage, Error string
	Chosen, Free                              bool
}

// hpaExample fills the manifest that points an HPA at the Forecast. Target is empty where it is not known what a replica
// sustains.
type hpaExample struct {
	Namespace, Name, Kind, Workload, Target string
	Min, Max                                int32
}

// renderPage is the outlook as an HTML page that needs nothing beside itself.
func renderPage(o *v1alpha1.Outlook, now time.Time) (rendering, error) {
	svg, err := drawing(o, now, 0)
	if err != nil {
		return rendering{}, err
	}
	source, err := template.New("page").Parse(pageSource)
	if err != nil {
		return rendering{}, fmt.Errorf("page template: %w", err)
	}
	var out bytes.Buffer
	err = source.Execute(&out, page{
		Outlook: o, Now: now.UTC(),
		Plot:      template.HTML(svg), //nolint:gosec // Our own drawing, which escapes its strings.
		Facts:     facts(&o.Status, now),
		Objective: objectiveOf(&o.Status),
		Models:    modelRows(o.Status.Candidates),
		Repairs:   repairRows(o.Status.Repairs, o.Status.Step.Duration),
		HPA:       example(o),
	})
	if err != nil {
		return rendering{}, fmt.Errorf("page of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return rendering{contentType: "text/html; charset=utf-8", body: out.Bytes()}, nil
}

func facts(s *v1alpha1.OutlookStatus, now time.Time) []fact {
	return []fact{
		{"Served", number(s.Served), unit(s, s.Served), servedNote(s)},
		{"Now", number(s.Observed), unit(s, s.Observed), "observed, " + age(s, now) + " ago"},
		{"Lead time", span(s.LeadTime.Duration.Duration), "", orUnknown(s.LeadTime.Source)},
		{"Window", span(s.Window.Duration), "", "how far the value looks ahead"},
		{"Model", orUnknown(s.Model), "", chosenTitle(s)},
		{"Skill", percent(s.Skill), "", "better than the last value, on the decision's own loss"},
		{"Coverage", percent(s.Coverage), "", "of past windows stayed within the served value"},
	}
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

func modelRows(candidates []v1alpha1.Candidate) []modelRow {
	out := make([]modelRow, len(candidates))
	for i, c := range candidates {
		out[i] = modelRow{
			Name: c.Name, Title: c.Title, Chosen: c.Chosen, Free: c.Free, Error: c.Error,
			Loss: number(c.Loss), Skill: percent(c.Skill), Coverage: percent(c.Coverage),
		}
	}
	return out
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

// True says whether a condition holds.
func (page) True(c v1alpha1.Condition) bool { return c.Status == metav1.ConditionTrue }
