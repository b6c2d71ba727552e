package inspectcmd

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// outcome is how the objective fares: in words, by autoscaler and by shape.
func (v *view) outcome(s *inspect.OutlookStatus) error {
	o := s.Outcome
	if o == nil {
		v.uncalibrated(s.Conditions)
		return nil
	}
	fmt.Fprintf(v.text, "\nObjective: %s: %s\n", objective(o), o.Verdict)
	for _, words := range []string{o.Words, o.Summary, o.WhyK, o.Why} {
		if words != "" {
			fmt.Fprintln(v.text, words)
		}
	}
	if err := v.scalings(s); err != nil {
		return err
	}
	return v.shapes(o)
}

// objective is what is asked, in words.
func objective(o *inspect.Outcome) string {
	switch {
	case o.CostRatio != nil:
		return fmt.Sprintf(
			"demand that waits longer than %s costs %s an idle replica",
			o.Wait.Duration,
			ratio(*o.CostRatio),
		)
	case o.Late != nil:
		return fmt.Sprintf("at most %s waits longer than %s", share(*o.Late), o.Wait.Duration)
	}
	return unknown
}

// uncalibrated says why no outcome calibrates an objective, where one is asked for.
func (v *view) uncalibrated(conditions []inspect.Condition) {
	for _, c := range conditions {
		if c.Type == snapshot.ConditionUncalibrated && c.Status == metav1.ConditionTrue {
			fmt.Fprintf(v.text, "\nObjective: not calibrated: %s\n", c.Message)
		}
	}
}

func (v *view) scalings(s *inspect.OutlookStatus) error {
	if len(s.Outcome.Scalings) == 0 {
		return nil
	}
	table := v.tabs()
	fmt.Fprintln(table, "\nAUTOSCALER\tA REPLICA SUSTAINS\tREPLICAS\tK\tEXPECTED LATE")
	for i := range s.Outcome.Scalings {
		c := &s.Outcome.Scalings[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.By, quantity(c.Target, s.Unit), replicas(c), number(c.K),
			lateShare(c.Expected))
	}
	return table.Flush()
}

// unbounded is a number of replicas that stands for no bound.
const unbounded = 1_000_000

func replicas(s *inspect.Scaling) string {
	if s.MaxReplicas >= unbounded {
		return fmt.Sprintf("%d or more", s.MinReplicas)
	}
	return fmt.Sprintf("%d to %d", s.MinReplicas, s.MaxReplicas)
}

func (v *view) shapes(o *inspect.Outcome) error {
	if len(o.Candidates) == 0 {
		return nil
	}
	table := v.tabs()
	fmt.Fprintln(table, "\nSHAPE\tK\tEXPECTED LATE\tCOST\tNOTE")
	for i := range o.Candidates {
		c := &o.Candidates[i]
		fmt.Fprintf(
			table,
			"%s\t%s\t%s\t%s\t%s\n",
			c.Name,
			number(c.K),
			lateShare(c.Late),
			number(c.Cost),
			shapeNote(o, c),
		)
	}
	return table.Flush()
}

func shapeNote(o *inspect.Outcome, c *inspect.ShapeCandidate) string {
	note := "meets it"
	switch {
	case o.CostRatio != nil && c.Serves:
		return "serves"
	case o.CostRatio != nil && c.Meets:
		note = ""
	case o.CostRatio != nil:
		note = unknown
	case c.Late == nil:
		note = unknown
	case !c.Meets:
		note = "misses it"
	}
	if c.Serves {
		return "serves, " + note
	}
	return note
}

// achieved is the share of the demand that was late, marked where the objective is missed; unknown where none is served by
// outcome.
func achieved(s *inspect.OutlookStatus) string {
	if s.Outcome == nil {
		return unknown
	}
	text := lateShare(s.Outcome.Served.Late)
	if outcome.Verdict(s.Outcome.Verdict).Misses() {
		text += "!"
	}
	return text
}

func lateShare(v *float64) string { return figures.Maybe(v, figures.Late) }
