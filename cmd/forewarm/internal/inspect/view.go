package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
	words "github.com/forewarm/forewarm/pkg/serve/inspect"
)

// unknown is the text for an unknown number.
const unknown = humanize.Unknown

// Table writes one line for each outlook, for people; now is the time for the age of data.
func Table(out io.Writer, outlooks []inspect.Outlook, now time.Time) error {
	return newView(out).summary(outlooks, now, false)
}

// view writes outlooks for people.
type view struct {
	out   io.Writer
	width int
	color bool
}

// newView returns a view with the width of the terminal. Without a terminal, it has the width of a page. Only a terminal gets colors.
func newView(out io.Writer) *view {
	width, color := cmdline.ColumnsAndColor(out, cmdline.Page)
	return &view{out: out, width: width, color: color}
}

// table writes a heading, and a line of cells for each item. Without items it writes nothing.
func table[T any](v *view, heads string, all []T, cells func(*T) []string) error {
	if len(all) == 0 {
		return nil
	}
	var lines [][]string
	for i := range all {
		lines = append(lines, cells(&all[i]))
	}
	return cmdline.Table(v.out, heads, lines)
}

// summary writes one line for each outlook; a wide one has more columns.
func (v *view) summary(outlooks []inspect.Outlook, now time.Time, wide bool) error {
	heads := "NAMESPACE\tNAME\tSTATE\tNOW\tSERVED\tUNIT\tASKED\tLATE\tLEAD\tMODEL\tSKILL\tCOVERAGE\tDATA AGE\tAGE" //nolint:dupword // Two columns.
	if wide {
		heads += "\tWINDOW\tHEADROOM\tREASON"
	}
	return table(v, heads, outlooks, func(o *inspect.Outlook) []string { return cells(o, now, wide) })
}

// cells returns the cells of an outlook in the table. Without a time, there are no ages.
func cells(o *inspect.Outlook, now time.Time, wide bool) []string {
	s := &o.Status
	line := []string{
		o.Namespace, o.Name, s.State, number(s.Observed), number(s.Served), cmp.Or(s.Unit, unknown),
		words.ObjectiveText(s), words.AchievedLateness(s), s.LeadTime.Duration.Duration.String(),
		cmp.Or(s.Model, unknown), signed(s.Skill), percent(s.Coverage), words.SampleAge(s, now), words.Age(o, now),
	}
	if !wide {
		return line
	}
	headroom := unknown
	if s.Objective != nil {
		headroom = number(s.Objective.Headroom)
	}
	return append(line, s.Window.Duration.String(), headroom, s.Reason)
}

// full writes one outlook with all of its fields.
func (v *view) full(o *inspect.Outlook, now time.Time) error {
	s := &o.Status
	fmt.Fprintf(v.out, "%s/%s is %s\n%s\n", o.Namespace, o.Name, s.State, s.Reason)
	v.race(s, words.RaceLength)
	fmt.Fprintln(v.out)
	var facts [][]string
	fact := func(name, value string) { facts = append(facts, []string{name, value}) }
	fact("Workload", cmp.Or(s.Workload, unknown))
	fact("Observed", fmt.Sprintf("%s, newest sample %s old", quantity(s.Observed, s.Unit), words.SampleAge(s, now)))
	fact("Served", fmt.Sprintf("%s, asked: %s", quantity(s.Served, s.Unit), words.ObjectiveText(s)))
	fact("Lead window", fmt.Sprintf("%s, in steps of %s", s.Window.Duration, s.Step.Duration))
	fact("Lead time", fmt.Sprintf("%s (%s)", s.LeadTime.Duration.Duration, cmp.Or(s.LeadTime.Source, "source unknown")))
	fact("Model", modelOf(s))
	fact("Skill", signed(s.Skill)+" over the last value")
	fact("Coverage", percent(s.Coverage)+" of past window peaks were at or below the forecast")
	if s.Fallbacks > 0 {
		fact("Fallbacks", fmt.Sprintf("%d steps since forewarm started", s.Fallbacks))
	}
	fmt.Fprint(v.out, printable.Table(facts, 2, 3)) //nolint:mnd // As in tables.
	if drawn := v.chart(s, now); drawn != "" {
		fmt.Fprintf(cmdline.Raw(v.out), "\n%s\n",
			drawn) // The colors and texts in it are our own, so they do not need cleaning.
	}
	if day := words.DaySummary(s); day != "" {
		fmt.Fprintf(v.out, "\n%s\n", day)
	}
	if err := v.objective(s); err != nil {
		return err
	}
	err := table(v, "\nCONDITION\tSTATUS\tREASON\tMESSAGE", s.Conditions, func(c *inspect.Condition) []string {
		return []string{c.Type, string(c.Status), c.Reason, c.Message}
	})
	if err != nil {
		return err
	}
	return v.candidates(s)
}

func modelOf(s *inspect.OutlookStatus) string {
	if s.ModelReason == "" {
		return cmp.Or(s.Model, unknown)
	}
	return s.Model + ": " + s.ModelReason
}

// candidates writes the models with their scores and their forecasts of the window peak, and marks the selected one.
func (v *view) candidates(s *inspect.OutlookStatus) error {
	const heads = "\nMODEL\tTITLE\tLOSS\tSKILL\tCOVERAGE\tMEDIAN\t0.95\tNOTE"
	return table(v, heads, s.Candidates, func(c *inspect.Candidate) []string {
		note := c.Error
		switch {
		case note != "":
		case c.Selected:
			note = "selected"
		case c.Baseline:
			note = "baseline"
		default:
			note = unknown
		}
		median, upper := inWindow(c, s.Window.Duration, "0.5"), inWindow(c, s.Window.Duration, "0.95")
		return []string{
			c.Name, cmp.Or(c.Title, unknown), number(c.Loss), signed(c.Skill), percent(c.Coverage),
			number(median), number(upper), note,
		}
	})
}

// inWindow returns a model's quantile of the window peak; nil if it has none.
func inWindow(c *inspect.Candidate, window time.Duration, level string) *float64 {
	for _, w := range c.Windows {
		if q, ok := w.Quantiles[level]; ok && w.Horizon.Duration == window {
			return &q
		}
	}
	return nil
}

func quantity(v *float64, unit string) string {
	if v == nil || unit == "" {
		return number(v)
	}
	return number(v) + " " + unit
}

func signed(v *float64) string {
	if v == nil {
		return unknown
	}
	return fmt.Sprintf("%+.1f%%", *v*100)
}

func number(v *float64) string { return humanize.Optional(v, humanize.Number) }

func percent(v *float64) string { return humanize.Optional(v, humanize.Percent) }

// objective writes whether the objective is met: as a text, by autoscaler and by candidate.
func (v *view) objective(s *inspect.OutlookStatus) error {
	o := s.Objective
	if o == nil {
		if why := words.UncalibratedMessage(s); why != "" {
			fmt.Fprintf(v.out, "\nObjective: not calibrated: %s\n", why)
		}
		return nil
	}
	goal := objective.NewGoal(o.Late, o.BadHours, o.CostRatio)
	fmt.Fprintf(v.out, "\nObjective: %s: %s\n", goal, o.Verdict)
	for _, sentences := range []string{o.Message, o.Summary, o.HeadroomReason, o.CandidateReason} {
		if sentences != "" {
			fmt.Fprintln(v.out, sentences)
		}
	}
	if hours := words.BadHoursText(o.Hours); hours != "" && o.BadHours == nil { // Otherwise the message contains it.
		fmt.Fprintf(v.out, "Bad hours (more than a tenth of the demand late): %s\n", hours)
	}
	expected := "EXPECTED " + strings.ToUpper(goal.Limited())
	err := table(v, "\nAUTOSCALER\tA REPLICA SUSTAINS\tREPLICAS\tHEADROOM\t"+expected, o.Autoscalers,
		func(c *inspect.Autoscaler) []string {
			return []string{
				c.Name, quantity(c.Target, s.Unit), words.ReplicaRange(c), number(c.Headroom),
				lateShare(c.ExpectedLate),
			}
		})
	if err != nil {
		return err
	}
	heads := "\nCANDIDATE\tHEADROOM\t" + expected + "\tRELATIVE COST\tNOTE"
	return table(v, heads, o.Candidates, func(c *inspect.CandidateCost) []string {
		note := words.CandidateNote(o, c)
		return []string{c.Name, number(c.Headroom), lateShare(c.Late), number(c.RelativeCost), note}
	})
}

func lateShare(v *float64) string { return humanize.Optional(v, humanize.LateShare) }

// raceLines is the height of a strip of the race in lines.
const raceLines = 8

// Race writes the headline and, in characters, the newest part of the race.
func Race(out io.Writer, s *inspect.OutlookStatus, newest time.Duration) {
	newView(out).race(s, newest)
}

// race writes the headline, and the race below it.
func (v *view) race(s *inspect.OutlookStatus, newest time.Duration) {
	if s.Objective == nil {
		return
	}
	if s.Objective.Headline != "" {
		fmt.Fprintf(v.out, "\n%s\n", s.Objective.Headline)
		if c := s.Objective.Comparison; c != nil {
			fmt.Fprint(v.out, printable.Wrap("", c.Details, "", min(v.width, maxColumns)))
		}
	}
	before, forewarm, ok := words.Strips(s, newest)
	if !ok {
		return
	}
	top, columns := chart.Top(before, forewarm), min(v.width, maxColumns)
	titleBefore, titleForewarm := words.RaceTitles(s)
	fmt.Fprintf(v.out, "\n%s\n%s\n\n%s\n%s\n%s\n", titleBefore, before.Text(top, columns, raceLines),
		titleForewarm, forewarm.Text(top, columns, raceLines), chart.StripSigns)
}
