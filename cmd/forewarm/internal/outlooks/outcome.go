package outlooks

import (
	"fmt"
	"io"
	"time"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	words "github.com/forewarm/forewarm/pkg/serve/inspect"
)

// objective prints how well the objective is kept: in words, by autoscaler and by candidate.
func (v *view) objective(s *inspect.OutlookStatus) error {
	o := s.Objective
	if o == nil {
		if why := words.UncalibratedMessage(s); why != "" {
			fmt.Fprintf(v.out, "\nObjective: not calibrated: %s\n", why)
		}
		return nil
	}
	fmt.Fprintf(v.out, "\nObjective: %s: %s\n", describeObjective(o), o.Verdict)
	for _, sentences := range []string{o.Message, o.Summary, o.HeadroomReason, o.CandidateReason} {
		if sentences != "" {
			fmt.Fprintln(v.out, sentences)
		}
	}
	err := table(v, "\nAUTOSCALER\tA REPLICA SUSTAINS\tREPLICAS\tHEADROOM\tEXPECTED LATE", o.Autoscalers,
		func(c *inspect.Autoscaler) []string {
			return []string{
				c.Name, quantity(c.Target, s.Unit), words.ReplicaRange(c), number(c.Headroom),
				lateShare(c.ExpectedLate),
			}
		})
	if err != nil {
		return err
	}
	const heads = "\nCANDIDATE\tHEADROOM\tEXPECTED LATE\tRELATIVE COST\tNOTE"
	return table(v, heads, o.Candidates, func(c *inspect.CandidateCost) []string {
		return []string{c.Name, number(c.Headroom), lateShare(c.Late), number(c.RelativeCost), costNote(o, c)}
	})
}

// describeObjective describes the objective.
func describeObjective(o *inspect.Objective) string {
	switch {
	case o.CostRatio != nil:
		cost := words.FormatCostRatio(*o.CostRatio)
		return fmt.Sprintf("demand that waits longer than %s costs %s as much as an idle replica", o.Wait.Duration,
			cost)
	case o.Late != nil:
		return fmt.Sprintf("at most %s waits longer than %s", humanize.ShareAsWritten(*o.Late), o.Wait.Duration)
	}
	return unknown
}

func costNote(o *inspect.Objective, c *inspect.CandidateCost) string {
	note := "meets it"
	switch {
	case o.CostRatio != nil && c.Selected:
		return "selected"
	case o.CostRatio != nil && c.MeetsObjective:
		note = ""
	case o.CostRatio != nil || c.Late == nil:
		note = unknown
	case !c.MeetsObjective:
		note = "misses it"
	}
	if c.Selected {
		return "selected, " + note
	}
	return note
}

func lateShare(v *float64) string { return humanize.Optional(v, humanize.LateShare) }

// raceLines is how high a strip of the race is.
const raceLines = 8

// Race writes the headline and, in characters, the newest part of the race.
func Race(out io.Writer, s *inspect.OutlookStatus, newest time.Duration) {
	newView(out).race(s, newest)
}

// race writes the headline, and the race under it.
func (v *view) race(s *inspect.OutlookStatus, newest time.Duration) {
	if s.Objective == nil {
		return
	}
	if s.Objective.Headline != "" {
		fmt.Fprintf(v.out, "\n%s\n", s.Objective.Headline)
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
