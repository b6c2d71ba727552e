package forecaster

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/windowpeak"
	"github.com/forewarm/forewarm/pkg/workload"
)

// selection says which candidate serves each of the policies: the cheapest by the simulated bill where an objective or a
// price is asked for, else the one of least pinball loss.
type selection struct {
	policies []decide.Policy
	peaks    *windowpeak.Set
	// objective is nil where nothing is decided by outcome; contenders are the indices of its candidates.
	objective  *outcome.Objective
	contenders []int
	played     outcome.Step
	// serving is the index of the candidate of least pinball loss, −1 while none is known.
	serving int
}

func newSelection(c Config, peaks *windowpeak.Set, start time.Time) (*selection, error) {
	s := &selection{policies: append([]decide.Policy{c.Policy}, c.Also...), peaks: peaks, serving: -1}
	if !c.Policy.ByOutcome() || len(c.Scalings) == 0 {
		s.byQuantile()
		return s, nil
	}
	of := outcome.Config{Step: c.Step, Start: start, Window: c.stepsIn(c.Window), Lead: c.Policy.Lead}
	for i, candidate := range peaks.Candidates() {
		if slices.Contains(outcome.Contenders(), candidate.Name()) {
			of.Contenders = append(of.Contenders, candidate.Name())
			s.contenders = append(s.contenders, i)
		}
	}
	for i, p := range s.policies {
		asked := outcome.Asked{Late: p.Late, Price: p.CostRatio}
		if c.Learnt != nil && i < len(c.Learnt.Multiple) {
			asked.Fixed = c.Learnt.Multiple[i]
		}
		of.Asked = append(of.Asked, asked)
	}
	for _, by := range c.Scalings {
		of.Autoscalers = append(of.Autoscalers, outcome.Autoscaler{By: by.By, Spec: workload.Spec{
			Capacity: by.Target(), HPA: by.HPA, Pod: workload.Constant(c.Policy.Lead), Wait: c.Policy.Wait,
		}})
	}
	var err error
	if c.Learnt != nil {
		of.Margins = c.Learnt.Margins
	} else if of.Margins, err = margin.Shipped(c.Policy.Lead); err != nil {
		s.byQuantile()
		return s, err
	}
	if s.objective, err = outcome.New(of); err != nil {
		s.byQuantile()
	}
	n := len(s.contenders)
	s.played.Peaks, s.played.Own = make([]windowpeak.Peak, n), make([]bool, n)
	return s, err
}

// byQuantile leaves everything to the quantile.
func (s *selection) byQuantile() {
	for i := range s.policies {
		s.policies[i].Target = 0
	}
}

// step selects anew.
func (s *selection) step(f *Forecaster, arrived float64) {
	s.choose()
	if s.objective == nil {
		return
	}
	s.played.Observed, s.played.Arrived, s.played.Limit = f.demand.known, arrived, f.limit()
	if math.IsNaN(s.played.Observed) {
		s.played.Observed = 0
	}
	for i, at := range s.contenders {
		s.played.Peaks[i], s.played.Own[i] = s.peaks.Candidates()[at].Peak()
	}
	s.objective.Step(s.played)
}

// edge is how much better a challenger must be than who serves: without it the choice would flutter between equals.
const edge = 0.97

// choose looks at the pinball losses of all candidates. One that is no baseline serves while it loses no more than the best of
// these, and begins to when it loses 3 % less; among equals in rank a challenger must lose 3 % less, too.
func (s *selection) choose() {
	all := s.peaks.Candidates()
	free, fitted := s.best(true), s.best(false)
	if s.serving < 0 || !ready(all[s.serving]) {
		s.serving = free
	}
	if s.serving >= 0 && free >= 0 && !all[s.serving].Baseline() && all[s.serving].Loss() > all[free].Loss() {
		s.serving = free // Demoted at once.
	}
	for _, challenger := range []int{free, fitted} {
		if challenger >= 0 && (s.serving < 0 || all[challenger].Loss() < edge*all[s.serving].Loss()) {
			s.serving = challenger
		}
	}
}

// best is the ready candidate of least loss among the baselines or the others; the first of equals, −1 for none.
func (s *selection) best(baseline bool) int {
	at := -1
	all := s.peaks.Candidates()
	for i, c := range all {
		if c.Baseline() == baseline && ready(c) && (at < 0 || c.Loss() < all[at].Loss()) {
			at = i
		}
	}
	return at
}

// ready: calibrated on the lead window and scored since.
func ready(c *windowpeak.Candidate) bool { return c.Calibrated() && !math.IsNaN(c.Loss()) }

// candidate is the one that serves a policy; nil where none does.
func (s *selection) candidate(policy int) *windowpeak.Candidate {
	switch {
	case s.objective != nil && s.policies[policy].ByOutcome():
		return s.peaks.Candidates()[s.contenders[s.objective.Serving(policy)]]
	case s.serving >= 0:
		return s.peaks.Candidates()[s.serving]
	}
	return nil
}

// serves says whether a candidate can serve a policy: an objective's headroom begins with what is known of other workloads,
// a quantile must be calibrated on this one.
func (s *selection) serves(policy int, c *windowpeak.Candidate) bool {
	return c != nil && (c.Calibrated() || s.objective != nil && s.policies[policy].ByOutcome())
}

// inputs are what the answer to a policy looks back over; none where the newest says all.
func (s *selection) inputs(policy int) []decide.Input {
	if s.objective == nil || !s.policies[policy].ByOutcome() {
		return nil
	}
	return s.objective.Inputs(policy)
}

// multiple of the spread that a policy serves.
func (s *selection) multiple(policy int) float64 {
	if s.objective == nil {
		return 0
	}
	return s.objective.K(policy)
}

// reason says in a sentence why the candidate of least pinball loss is selected.
func (s *selection) reason() string {
	if s.serving < 0 {
		return "no candidate has seen enough windows yet"
	}
	all := s.peaks.Candidates()
	c := all[s.serving]
	if c.Baseline() {
		rival := s.best(false)
		if rival < 0 {
			return c.Title() + " is selected: no model is ready"
		}
		return fmt.Sprintf("%s is selected: no model's loss is at least 3 %% lower (%s %.4g, best model %s %.4g)",
			c.Title(), c.Title(), c.Loss(), all[rival].Title(), all[rival].Loss())
	}
	rival := s.best(true)
	if rival < 0 {
		return c.Title() + " is selected: no baseline is ready"
	}
	return fmt.Sprintf("%s is selected: loss %.4g against %.4g of %s, the best baseline",
		c.Title(), c.Loss(), all[rival].Loss(), all[rival].Title())
}

// skill is 1 − loss/loss of the last value; NaN until both are known, 0 where both are perfect.
func skill(c, last *windowpeak.Candidate) float64 {
	if c.Loss() == 0 && last.Loss() == 0 {
		return 0
	}
	s := 1 - c.Loss()/last.Loss()
	if math.IsInf(s, 0) {
		return math.NaN()
	}
	return s
}
