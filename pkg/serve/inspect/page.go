package inspect

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed page.html
var pageSource string

//nolint:gochecknoglobals // Parsed once.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number, "percent": percent, "late": lateShare, "significant": significant, "replicas": ReplicaRange,
	"uncalibrated": UncalibratedMessage, "paused": PauseMessage, "period": humanize.Period, "badHour": badHour,
	"eventTime": eventTime, "effects": effects, "amount": humanize.Number, "missed": missedText,
	"candidateNote": CandidateNote,
}).Parse(pageSource))

// page is the data of the template.
type page struct {
	*v1alpha1.Outlook

	Style                 template.CSS
	Now                   time.Time
	PastChart, AheadChart template.HTML
	// DayChart and Day are the next day, drawn and in a sentence.
	DayChart  template.HTML
	Day       string
	Legend    []pageKey
	Facts     []fact
	Objective *objectivePanel // Nil without a calibrated objective.
	// Race and WholeRace are the last day and all of the budget's period; the latter only where that is longer.
	Race, WholeRace []raceChart
	RaceRows        []raceRow
	// Classifications are the newest times of censored or masked demand.
	Classifications []classificationRow
	HPA             hpaExample
}

// Empty reports whether there is nothing to draw: no sample of the last day, and no forecast.
func (p *page) Empty() bool {
	known := func(s v1alpha1.Sample) bool { return s.Observed != nil }
	return len(p.Status.Path) == 0 && !slices.ContainsFunc(p.Status.Recent, known)
}

// fact is one number on the page with its name and an explanation.
type fact struct{ Name, Value, Unit, Note string }

// hpaExample is the data of the example HPA. Target is empty if the target per replica is not known.
type hpaExample struct {
	Namespace, Name, Kind, Workload, Target string
	Min, Max                                int32
	// Highest is the most replicas that the demand took in the past; 0 where that is not known.
	Highest int32
}

// renderPage is the outlook as an HTML page without outside resources.
func renderPage(o *v1alpha1.Outlook, now time.Time) ([]byte, error) {
	s := &o.Status
	shown := &page{
		Outlook: o, Style: chart.Style(), Now: now.UTC(), Day: DaySummary(s), Legend: pageLegend(s),
		Facts:           facts(s, now),
		Classifications: classificationRows(s.Classifications, s.Step.Duration),
		HPA:             newHPAExample(o),
	}
	if s.Objective != nil {
		shown.Objective = &objectivePanel{s.Objective, objectiveFacts(s.Objective)}
	}
	var out bytes.Buffer
	err := shown.draw(s, now)
	if err == nil {
		err = pageTemplate.Execute(&out, shown)
	}
	if err != nil {
		return nil, fmt.Errorf("page of %s/%s: %w", o.Namespace, o.Name, err)
	}
	return []byte(printable.Text(out.String())), nil
}

// draw sets the charts. The charts in the panels of the plot are stretched to the width of the page.
func (p *page) draw(s *v1alpha1.OutlookStatus, now time.Time) (err error) {
	past, ahead := pastPanel(s, now), aheadPanel(s, now)
	past.ID, past.Title, past.Description = "past", "The last day of demand", plotDescription(s)
	ahead.ID, ahead.Title, ahead.Description = "ahead", "The forecast", headline(s)
	if p.PastChart, err = past.SVG(); err != nil {
		return err
	}
	if p.AheadChart, err = ahead.SVG(); err != nil {
		return err
	}
	if p.DayChart, err = dayChart(s, p.Day, now); err != nil {
		return err
	}
	if s.Objective == nil {
		return nil
	}
	p.RaceRows = raceRows(s.Objective)
	if p.Race, err = raceCharts(s, RaceLength, "race"); err != nil || s.Objective.Over.Duration <= RaceLength {
		return err
	}
	p.WholeRace, err = raceCharts(s, s.Objective.Over.Duration, "whole-race")
	return err
}

// pageKey is an entry of the page's legend.
type pageKey struct{ Class, Name string }

func pageLegend(s *v1alpha1.OutlookStatus) []pageKey {
	out := []pageKey{
		{"line observed", "observed"},
		{"line then", "served"},
		{"dot", "actual window peak"},
		{"line expected", "point forecast"},
		{"fan", "from the median to the 0.8 and 0.95 quantiles"},
		{"line served", "served now, over the lead window"},
	}
	if len(s.Day) > 0 {
		out = append(out,
			pageKey{"line paid", "capacity of the expected replicas"},
			pageKey{"lead", "lead window"})
	}
	if slices.ContainsFunc(s.Classifications, isCensored) {
		out = append(out, pageKey{"censored", "censored (saturated)"})
	}
	if slices.ContainsFunc(s.Classifications, isMasked) {
		out = append(out, pageKey{"masked", "masked"})
	}
	return out
}

func facts(s *v1alpha1.OutlookStatus, now time.Time) []fact {
	return []fact{
		{"Served", number(s.Served), unit(s, s.Served), servedNote(s)},
		{"Observed", number(s.Observed), unit(s, s.Observed), SampleAge(s, now) + " ago"},
		{"Lead time", span(s.LeadTime.Duration.Duration), "", cmp.Or(s.LeadTime.Source, unknown)},
		{"Lead window", span(s.Window.Duration), "", windowNote(s)},
		{"Model", cmp.Or(s.Model, unknown), "", selectedTitle(s)},
		{"Skill", percent(s.Skill), "", "lower pinball loss than the last value"},
		{"Coverage", percent(s.Coverage), "", "of past window peaks were at or below the forecast quantile"},
	}
}

// windowNote lists the parts of the lead window. The window is shorter than the lead time if an objective looks ahead by the median start.
func windowNote(s *v1alpha1.OutlookStatus) string {
	const rest = " + HPA sync + step + metric lag"
	if s.Window.Duration < s.LeadTime.Duration.Duration {
		return "median start time" + rest
	}
	return "lead time" + rest
}

// selectedTitle is the title of the selected candidate; empty for the fallback.
func selectedTitle(s *v1alpha1.OutlookStatus) string {
	for _, c := range s.Candidates {
		if c.Selected {
			return c.Title
		}
	}
	return ""
}

// unit returns the unit of a number, if the number is known.
func unit(s *v1alpha1.OutlookStatus, of *float64) string {
	if of == nil {
		return ""
	}
	return s.Unit
}

func servedNote(s *v1alpha1.OutlookStatus) string {
	switch {
	case s.Served == nil:
		return "no value is served: the HPA keeps its replicas"
	case PauseMessage(s) != "":
		return "paused: as with the previous HPA"
	case s.Late != nil || s.BadHours != nil:
		return "at most " + ObjectiveText(s)
	case s.CostRatio != nil:
		return "lowest cost if " + ObjectiveText(s) + " an idle replica"
	case s.Quantile != nil:
		return ObjectiveText(s) + " of the window peak"
	}
	return "from the fallback"
}

func newHPAExample(o *v1alpha1.Outlook) hpaExample {
	kind, workload, found := strings.Cut(o.Status.Workload, "/")
	if !found {
		kind, workload = "Deployment", o.Name
	}
	out := hpaExample{Namespace: o.Namespace, Name: o.Name, Kind: kind, Workload: workload, Min: 1, Max: 10}
	if fares := o.Status.Objective; fares != nil && len(fares.Autoscalers) > 0 && fares.Autoscalers[0].Target != nil {
		s := fares.Autoscalers[0]
		out.Target = strconv.FormatFloat(*s.Target, 'f', -1, 64)
		if s.MaxReplicas < unbounded {
			out.Min, out.Max = s.MinReplicas, s.MaxReplicas
		} else if out.Highest = highestReplicas(&o.Status); out.Highest > 0 {
			out.Max = max(out.Max, roomAbove*out.Highest)
		}
	}
	return out
}

// roomAbove is the maxReplicas of the example, as a multiple of the highest number of replicas so far.
const roomAbove = 2

// highestReplicas returns the highest number of replicas that were ready in the race, or the number that the present value needs if that is
// higher.
func highestReplicas(s *v1alpha1.OutlookStatus) int32 {
	highest := int32(0)
	if target := s.Objective.Autoscalers[0].Target; s.Served != nil && *target > 0 && *s.Served / *target < unbounded {
		highest = int32(math.Ceil(*s.Served / *target))
	}
	if race := s.Objective.Race; race != nil {
		for _, ready := range [][]int32{race.Before.Ready, race.Forewarm.Ready} {
			for _, n := range ready {
				highest = max(highest, n)
			}
		}
	}
	return highest
}

// StateClass is the CSS class of the state: good, fair, or poor if no value is served.
func (p *page) StateClass() string {
	switch p.Status.State {
	case "Ready":
		return "good"
	case "Warming", "FallingBack":
		return "fair"
	}
	return "poor"
}

// Time is a time as text, in UTC.
func (*page) Time(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") }
