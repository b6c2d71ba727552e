package inspectcmd

import (
	"fmt"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	words "github.com/forewarm/forewarm/pkg/serve/inspect"
)

// outcome is how the objective fares: in words, by autoscaler and by candidate.
func (v *view) outcome(s *inspect.OutlookStatus) error {
	o := s.Outcome
	if o == nil {
		if why := words.Uncalibrated(s); why != "" {
			fmt.Fprintf(v.out, "\nObjective: not calibrated: %s\n", why)
		}
		return nil
	}
	fmt.Fprintf(v.out, "\nObjective: %s: %s\n", objective(o), o.Verdict)
	for _, sentences := range []string{o.Words, o.Summary, o.WhyK, o.Why} {
		if sentences != "" {
			fmt.Fprintln(v.out, sentences)
		}
	}
	err := table(v, "\nAUTOSCALER\tA REPLICA SUSTAINS\tREPLICAS\tK\tEXPECTED LATE", o.Scalings,
		func(c *inspect.Scaling) []string {
			return []string{c.By, quantity(c.Target, s.Unit), words.Replicas(c), number(c.K), lateShare(c.Expected)}
		})
	if err != nil {
		return err
	}
	return table(v, "\nCANDIDATE\tK\tEXPECTED LATE\tCOST\tNOTE", o.Candidates, func(c *inspect.CandidateCost) []string {
		return []string{c.Name, number(c.K), lateShare(c.Late), number(c.Cost), costNote(o, c)}
	})
}

// objective is what is asked, in words.
func objective(o *inspect.Outcome) string {
	switch {
	case o.CostRatio != nil:
		cost := words.Ratio(*o.CostRatio)
		return fmt.Sprintf("demand that waits longer than %s costs %s an idle replica", o.Wait.Duration, cost)
	case o.Late != nil:
		return fmt.Sprintf("at most %s waits longer than %s", humanize.Asked(*o.Late), o.Wait.Duration)
	}
	return unknown
}

func costNote(o *inspect.Outcome, c *inspect.CandidateCost) string {
	note := "meets it"
	switch {
	case o.CostRatio != nil && c.Serves:
		return "serves"
	case o.CostRatio != nil && c.Meets:
		note = ""
	case o.CostRatio != nil || c.Late == nil:
		note = unknown
	case !c.Meets:
		note = "misses it"
	}
	if c.Serves {
		return "serves, " + note
	}
	return note
}

func lateShare(v *float64) string { return humanize.Maybe(v, humanize.Late) }
