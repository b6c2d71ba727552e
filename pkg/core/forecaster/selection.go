package forecaster

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// selection selects a candidate for each of the settings. For an objective or a cost ratio, it compares the relative costs of simulated
// autoscalers, and otherwise the pinball losses.
type selection struct {
	settings []decide.Settings
	peaks    *windowpeak.CandidateSet
	// calibrator is nil if no settings serve headroom. simulated are the indices of its candidates: first the candidates to select from,
	// then the candidates that autoscalers request by name.
	calibrator     *objective.Calibrator
	simulated      []int
	calibratorStep objective.Step
	// byPinballLoss compares the scored candidates.
	byPinballLoss decide.CandidateSelector
	scored        []decide.CandidateScore
	// byName is true for candidates that serve only requests for their name.
	byName []bool
}

func newSelection(c Config, peaks *windowpeak.CandidateSet, start time.Time) (*selection, error) {
	s := &selection{
		settings: append([]decide.Settings{c.Settings}, c.ExtraSettings...), peaks: peaks,
		byPinballLoss: decide.CandidateSelector{Criterion: decide.PinballLoss},
	}
	for _, candidate := range peaks.Candidates {
		s.scored = append(s.scored, decide.CandidateScore{Name: candidate.Name, Baseline: candidate.Baseline})
		s.byName = append(s.byName, !c.selects(candidate.Name))
	}
	if !c.Settings.ByHeadroom() || len(c.Autoscalers) == 0 {
		s.byQuantile()
		return s, nil
	}
	of := objective.Config{
		Step: c.Step, Start: start, Window: c.stepsIn(c.Window), Lead: c.Settings.Lead, Delay: c.DelaySteps,
		Period: c.Settings.Over, Deadline: c.Deadline, Baseline: c.Baseline,
	}
	for i, candidate := range peaks.Candidates {
		if slices.Contains(objective.DefaultCandidates(), candidate.Name) {
			of.Candidates = append(of.Candidates, candidate.Name)
			s.simulated = append(s.simulated, i)
		}
	}
	for _, p := range s.settings {
		of.Goals = append(of.Goals, objective.Goal{Late: p.Late, BadHours: p.BadHours, Price: p.CostRatio})
	}
	s.autoscalers(c, &of)
	of.Autoscalers[0].Spec.PassDeadBand = true // The served value passes the dead band, too.
	var err error
	if c.Priors != nil {
		of.Priors = c.Priors.Headroom
	} else if of.Priors, err = objective.BuiltinPriors(c.Settings.Lead); err != nil {
		s.byQuantile()
		return s, err
	}
	if s.calibrator, err = objective.NewCalibrator(of); err != nil {
		s.byQuantile()
	}
	n := len(s.simulated)
	s.calibratorStep.Peaks, s.calibratorStep.HasForecast = make([]windowpeak.Peak, n), make([]bool, n)
	return s, err
}

// autoscalers sets the autoscalers that read the selected candidate, and the autoscalers that request a candidate by name. If no autoscaler
// reads the selected candidate, all of them are simulated for it.
func (s *selection) autoscalers(c Config, of *objective.Config) {
	var starts sim.LeadTime = sim.Constant(c.Settings.Lead)
	if c.Starts != nil {
		starts = c.Starts
	}
	var all []objective.Autoscaler
	for _, by := range c.Autoscalers {
		one := objective.Autoscaler{Name: by.Name, Spec: sim.Spec{
			Capacity: by.Target(), HPA: by.HPA, PodLead: starts, Wait: c.Settings.Wait, Seed: c.Seed,
		}}
		all = append(all, one)
		at := s.peaks.Find(by.Candidate)
		if at < 0 {
			of.Autoscalers = append(of.Autoscalers, one)
			continue
		}
		i := slices.IndexFunc(of.Named, func(n objective.NamedCandidate) bool { return n.Candidate == by.Candidate })
		if i < 0 {
			i = len(of.Named)
			of.Named = append(of.Named, objective.NamedCandidate{Candidate: by.Candidate})
			s.simulated = append(s.simulated, at)
		}
		of.Named[i].Autoscalers = append(of.Named[i].Autoscalers, one)
	}
	if len(of.Autoscalers) == 0 {
		of.Autoscalers = all
	}
}

// byQuantile makes all settings serve their quantile, because headroom needs a calibrator.
func (s *selection) byQuantile() {
	for i := range s.settings {
		s.settings[i].Target = 0
	}
}

// step updates the selection.
func (s *selection) step(f *Forecaster, arrived, deferrable float64) {
	s.choose()
	if s.calibrator == nil {
		return
	}
	s.calibratorStep.Observed, s.calibratorStep.Arrived, s.calibratorStep.Limit = f.demand.known, arrived, f.limit()
	s.calibratorStep.Deferrable, s.calibratorStep.Minimum = deferrable, f.Minimum()
	if math.IsNaN(s.calibratorStep.Observed) {
		s.calibratorStep.Observed = 0
	}
	for i, at := range s.simulated {
		s.calibratorStep.Peaks[i], s.calibratorStep.HasForecast[i] = f.peak(s.peaks.Candidates[at])
	}
	s.calibrator.Step(s.calibratorStep)
}

// choose compares the pinball losses of the calibrated candidates. These losses are means over about a day, which is too short to judge the
// candidate LastWeek. LastWeek is only selected for its cost.
func (s *selection) choose() {
	for i, c := range s.peaks.Candidates {
		s.scored[i].Loss = c.Loss()
		s.scored[i].Eligible = c.Calibrated() && !math.IsNaN(c.Loss()) && c.Name != windowpeak.LastWeek &&
			!s.byName[i]
	}
	s.byPinballLoss.Update(s.scored)
}

// candidate returns the candidate that is selected for the settings with an index.
func (s *selection) candidate(of int) *windowpeak.Candidate {
	if s.settings[of].ByHeadroom() {
		return s.peaks.Candidates[s.simulated[s.calibrator.Selected(of)]]
	}
	return s.peaks.Candidates[s.byPinballLoss.Selected()]
}

// canServe reports whether a candidate can serve the settings with an index. Headroom has a prior from other workloads, but a quantile must
// be calibrated on this workload.
func (s *selection) canServe(of int, c *windowpeak.Candidate) bool {
	return c.Calibrated() || s.settings[of].ByHeadroom()
}

// decide returns the decision of the settings with an index for their inputs.
func (s *selection) decide(of int, inputs []decide.Input) decide.Decision {
	headroom := 0.0
	if s.settings[of].ByHeadroom() {
		headroom = s.calibrator.Headroom(of)
	}
	return decide.Decide(s.settings[of], headroom, inputs)
}

// skill returns 1 − loss/loss of the last value; NaN until both are known, 0 if both are 0.
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
