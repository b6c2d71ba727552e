package forecaster

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// selection says which candidate serves each of the policies: the cheapest by the simulated bill where an objective or a
// price is asked for, else the one of least pinball loss.
type selection struct {
	policies []decide.Policy
	peaks    *windowpeak.Set
	// objective is nil where nothing is decided by outcome; tried are the indices of its candidates: the contenders, and
	// then those that autoscalers ask for by name.
	objective *outcome.Objective
	tried     []int
	played    outcome.Step
	// gate chooses by the pinball loss; scored are the candidates as it sees them.
	gate   decide.Gate
	scored []decide.Scored
}

func newSelection(c Config, peaks *windowpeak.Set, start time.Time) (*selection, error) {
	s := &selection{
		policies: append([]decide.Policy{c.Policy}, c.Also...), peaks: peaks,
		gate: decide.Gate{Loss: decide.Pinball},
	}
	for _, candidate := range peaks.Candidates() {
		s.scored = append(s.scored, decide.Scored{Name: candidate.Name(), Baseline: candidate.Baseline()})
	}
	if !c.Policy.ByOutcome() || len(c.Scalings) == 0 {
		s.byQuantile()
		return s, nil
	}
	of := outcome.Config{Step: c.Step, Start: start, Window: c.stepsIn(c.Window), Lead: c.Policy.Lead}
	for i, candidate := range peaks.Candidates() {
		if slices.Contains(outcome.Contenders(), candidate.Name()) {
			of.Contenders = append(of.Contenders, candidate.Name())
			s.tried = append(s.tried, i)
		}
	}
	for i, p := range s.policies {
		asked := outcome.Asked{Late: p.Late, Price: p.CostRatio}
		if c.Learnt != nil && i < len(c.Learnt.Multiple) {
			asked.Fixed = c.Learnt.Multiple[i]
		}
		of.Asked = append(of.Asked, asked)
	}
	s.autoscalers(c, &of)
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
	n := len(s.tried)
	s.played.Peaks, s.played.Own = make([]windowpeak.Peak, n), make([]bool, n)
	return s, err
}

// autoscalers are those that read the selected candidate, or all where none does, and by candidate those that ask for it.
func (s *selection) autoscalers(c Config, of *outcome.Config) {
	var all []outcome.Autoscaler
	for _, by := range c.Scalings {
		one := outcome.Autoscaler{By: by.By, Spec: hpasim.Spec{
			Capacity: by.Target(), HPA: by.HPA, Pod: hpasim.Constant(c.Policy.Lead), Wait: c.Policy.Wait,
		}}
		all = append(all, one)
		at := s.peaks.Find(by.Candidate)
		if at < 0 {
			of.Autoscalers = append(of.Autoscalers, one)
			continue
		}
		i := slices.IndexFunc(of.Named, func(n outcome.Named) bool { return n.Candidate == by.Candidate })
		if i < 0 {
			i = len(of.Named)
			of.Named = append(of.Named, outcome.Named{Candidate: by.Candidate})
			s.tried = append(s.tried, at)
		}
		of.Named[i].Autoscalers = append(of.Named[i].Autoscalers, one)
	}
	if len(of.Autoscalers) == 0 {
		of.Autoscalers = all
	}
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
	for i, at := range s.tried {
		s.played.Peaks[i], s.played.Own[i] = s.peaks.Candidates()[at].Peak()
	}
	s.objective.Step(s.played)
}

// choose looks at the pinball losses: of candidates that are calibrated, and were scored since.
func (s *selection) choose() {
	for i, c := range s.peaks.Candidates() {
		s.scored[i].Loss, s.scored[i].Fit = c.Loss(), c.Calibrated() && !math.IsNaN(c.Loss())
	}
	s.gate.Choose(s.scored)
}

// candidate is the one that serves a policy, if it can.
func (s *selection) candidate(policy int) *windowpeak.Candidate {
	if s.objective != nil && s.policies[policy].ByOutcome() {
		return s.peaks.Candidates()[s.tried[s.objective.Serving(policy)]]
	}
	return s.peaks.Candidates()[s.gate.Serving()]
}

// serves says whether a candidate can serve a policy: an objective's headroom begins with what is known of other workloads,
// a quantile must be calibrated on this one.
func (s *selection) serves(policy int, c *windowpeak.Candidate) bool {
	return c.Calibrated() || s.objective != nil && s.policies[policy].ByOutcome()
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
