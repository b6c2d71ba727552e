package objective

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Calibrator finds the headroom multiplier at which the late share of the demand is within a goal. Time is the number of steps; there is no
// clock.
//
// The simulated autoscalers do not depend on the goals, so they run once for all goals.
type Calibrator struct {
	config Config
	// candidates are the candidates to select from, followed by the candidates that are selected by name.
	candidates []*candidate
	goals      []*goalState
	rivals     *rivals
	published  *published
	holdSteps  int // inputs over which a value is held
	started    bool
	// unforeseen is how many steps are left in which no replica could be ready for a demand above its limit; skipped reports
	// that the current hour has such a step.
	unforeseen int
	skipped    bool
	// end of the newest step.
	end time.Time
	// judged is the verdict on the hours of judgedPast.
	judged     *verdict.Verdict
	judgedPast *past
}

// goalState is the candidate and the headroom that are selected for a goal, and the resulting lateness.
type goalState struct {
	goal     Goal
	selector decide.CandidateSelector
	headroom float64
	accounts *accounts
	// needed is the value that deferrable work needs.
	needed float64
}

func newGoalState(c Config, asked Goal) (*goalState, error) {
	out := &goalState{
		goal: asked, selector: decide.CandidateSelector{Criterion: decide.RelativeCost},
	}
	if asked.Price > 0 {
		out.selector.Criterion = decide.PricedCost
	}
	var err error
	out.accounts, err = newAccounts(c, asked)
	return out, err
}

// target is the objective for which the headroom is computed. It is tightened or relaxed depending on the rest of the budget.
func (a *goalState) target() float64 { return a.accounts.target(a.goal) }

// NewCalibrator returns a Calibrator before its first step.
func NewCalibrator(c Config) (*Calibrator, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := &Calibrator{
		config: c, holdSteps: decide.HoldSteps(c.Lead, c.Step), published: newPublished(c), end: c.Start,
	}
	for i, name := range c.Candidates {
		grid := coarseGrid()
		if i == 0 {
			grid = FineGrid()
		}
		one, err := newCandidate(c, name, grid)
		if err != nil {
			return nil, err
		}
		o.candidates = append(o.candidates, one)
	}
	for _, n := range c.Named {
		one, err := newNamedCandidate(c, n)
		if err != nil {
			return nil, err
		}
		o.candidates = append(o.candidates, one)
	}
	for _, asked := range c.Goals {
		one, err := newGoalState(c, asked)
		if err != nil {
			return nil, err
		}
		o.goals = append(o.goals, one)
	}
	var err error
	if o.rivals, err = newRivals(c, int(c.period()/time.Hour)); err != nil {
		return nil, err
	}
	o.updateSelection()
	return o, nil
}

// Step is the input of a step.
type Step struct {
	// Observed is the demand now, and Arrived is the demand of the step that has ended; NaN for gaps.
	Observed, Arrived float64
	// Deferrable is the deferrable work that arrived in the step that has ended; NaN for a gap.
	Deferrable float64
	// Limit is the most that the history justifies now.
	Limit demand.Limit
	// Minimum is the value of the replicas that events ask for. It does not change the headroom.
	Minimum float64
	// Peaks are the forecasts of the candidates, followed by the named candidates. HasForecast is false for a candidate without a forecast,
	// whose peak is the present demand.
	Peaks       []windowpeak.Peak
	HasForecast []bool
}

// Step simulates the step that has ended in all simulations, and sets the values of the next step. For censored demand, it simulates the
// lower bound, so the simulated lateness is a lower bound, too.
func (o *Calibrator) Step(s Step) {
	if s.Limit.Known && s.Arrived > s.Limit.Forecast {
		o.unforeseen = o.config.Window
	}
	o.play(s.Arrived, s.Deferrable)
	o.started = true
	for i, c := range o.candidates {
		c.started = c.started || s.HasForecast[i]
		c.observe(decide.Input{Observed: s.Limit.CapObserved(s.Observed), Limit: s.Limit, Peak: s.Peaks[i]},
			o.holdSteps)
	}
	for i, a := range o.goals {
		value := decide.HeadroomValue(o.Headroom(i), o.Inputs(i))
		a.needed = o.deadlineFloor(a, s.Peaks[o.Selected(i)].Median, value)
		a.accounts.serve(max(value, a.needed, s.Minimum))
	}
	o.rivals.observe(s.Observed)
}

// play plays the step that has ended. At the end of an hour it updates the estimates and the selection.
func (o *Calibrator) play(arrived, deferrable float64) {
	if !o.started {
		o.published.skip(o.end, o.config.Step)
		return
	}
	o.end = o.end.Add(o.config.Step)
	for _, c := range o.candidates {
		c.play(arrived)
	}
	before, forewarm := o.rivals.simulated, o.goals[0].accounts.simulated
	lateBefore, replayed := before.Score().Late[0], sumsOf(forewarm)
	before.Play(o.rivals.values, arrived)
	hourEnded := false
	for _, a := range o.goals {
		a.accounts.play(arrived, deferrable)
		hourEnded = a.accounts.hourEnded()
	}
	o.published.record(playedStep{
		end: o.end, step: o.config.Step, arrived: arrived, deferrable: deferrable,
		value: o.goals[0].accounts.values[0], sums: sumsOf(forewarm).minus(replayed), ready: forewarm.Ready(0),
		before: played{before.Ready(0), before.Score().Late[0] - lateBefore},
	})
	if sim.EndsHour(o.end, o.config.Step) {
		o.rivals.endHour(!sim.HourOf(o.end).Before(o.config.Start.Add(-o.config.Step)))
	}
	o.skipped = o.skipped || o.unforeseen > 0
	o.unforeseen = max(0, o.unforeseen-1)
	if hourEnded {
		o.endHour()
		o.updateSelection()
	}
}

// endHour records the hour that has ended. An hour with demand above the limit is no evidence about headroom: no replica could
// be ready for it until a lead window later.
func (o *Calibrator) endHour() {
	for _, c := range o.candidates {
		c.endHour(!o.skipped)
	}
	for _, a := range o.goals {
		a.accounts.endHour()
	}
	o.skipped = false
}

// selectable is how many of the candidates take part in the selection.
func (o *Calibrator) selectable() int { return len(o.config.Candidates) }

// updateSelection updates the candidate and the headroom of each goal.
func (o *Calibrator) updateSelection() {
	for _, a := range o.goals {
		a.selector.Update(a.scores(o.candidateReports(a)))
		a.headroom = o.candidates[a.selector.Selected()].headroomFor(a.goal, a.target())
	}
}

// Selected is the index of the candidate that is selected for the i-th goal.
func (o *Calibrator) Selected(i int) int { return o.goals[i].selector.Selected() }

// Inputs are the inputs of the candidate that is selected for the i-th goal, newest last. They are valid until the next Step.
func (o *Calibrator) Inputs(i int) []decide.Input { return o.candidates[o.Selected(i)].inputs }

// Headroom is the multiplier for the i-th goal.
func (o *Calibrator) Headroom(i int) float64 { return o.goals[i].headroom }

// DeadBand is the dead band that a value for the i-th goal must leave: the dead band of the first autoscaler in its present state.
func (o *Calibrator) DeadBand(i int) hpa.DeadBand { return o.goals[i].accounts.simulated.DeadBand(0) }

// DeadlineFloor is the value that deferrable work needs in addition to the demand, with the values that were served for the i-th goal. It is
// 0 if the headroom of the demand is sufficient.
func (o *Calibrator) DeadlineFloor(i int) float64 { return o.goals[i].needed }

// Deferred returns the deferrable work that waits with the values that were served for the i-th goal, in replica-hours.
func (o *Calibrator) Deferred(i int) float64 { return o.goals[i].accounts.simulated.Deferred() }

// deadlineFloor is the value that work with a deadline needs in addition to an expected demand and the value for that demand.
func (o *Calibrator) deadlineFloor(a *goalState, expected, value float64) float64 {
	if o.config.Deadline == 0 {
		return 0
	}
	return a.accounts.simulated.DeadlineFloor(expected, value, time.Duration(o.config.Window)*o.config.Step)
}

// Shares are the late shares of all demand for each multiplier with the first autoscaler. Priors are computed from them.
func (o *Calibrator) Shares() Priors {
	out := Priors{Late: Shares{}, BadHours: Shares{}}
	for _, c := range o.candidates[:o.selectable()] {
		if len(c.trials) > 0 {
			out.Late[c.name] = c.trials[0].late.estimator.lateShares()
			out.BadHours[c.name] = c.trials[0].badHours.estimator.lateShares()
		}
	}
	return out
}
