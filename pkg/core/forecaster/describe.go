package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Describe writes what the forecaster knows to an entry.
func (f *Forecaster) Describe(e *snapshot.Entry) {
	e.Observed, e.Decision = f.credit(), f.decision
	e.Skill, e.Coverage = math.NaN(), f.record.covered.Value()
	e.Recent, e.Past = f.record.recent(), f.record.forecasts()
	e.Repairs = f.spans.Since(e.Recent.Start)
	if f.peaks == nil {
		return
	}
	windows := f.peaks.Windows()
	e.Window = time.Duration(windows[f.peaks.Own()]) * f.config.Step
	e.Reach = time.Duration(windows[len(windows)-1]) * f.config.Step
	e.Inputs = append([]decide.Input(nil), f.inputs...)
	last := f.peaks.Candidates()[f.peaks.Find(windowpeak.LastValue)]
	for _, c := range f.peaks.Candidates() {
		e.Candidates = append(e.Candidates, f.candidate(c, last))
	}
	f.describeSelection(e, last)
}

// describeSelection writes which candidate serves, and why.
func (f *Forecaster) describeSelection(e *snapshot.Entry, last *windowpeak.Candidate) {
	e.Choice = f.selection.gate.Choice(f.selection.scored)
	if o := f.selection.objective; o != nil {
		e.Outcome = o.Report()
		if e.Outcome != nil {
			e.Choice = e.Outcome.Choice
			f.refineNamed(e.Outcome)
			if f.decision.Bounded {
				e.Outcome.Bound(f.limit())
			}
		}
	}
	e.Fault = f.fault
	if !f.Decided() {
		return
	}
	c := f.selection.candidate(0)
	e.Model, e.Skill = c.Name(), skill(c, last)
	if e.Outcome != nil {
		e.Skill = e.Outcome.Skill()
	}
	e.PathModel, e.Path = f.path(c)
}

// refineNamed sets what is known now of the candidates that autoscalers ask for.
func (f *Forecaster) refineNamed(r *outcome.Report) {
	for _, n := range r.Named {
		if len(n.Inputs) > 0 {
			f.refine(&n.Inputs[len(n.Inputs)-1], f.peaks.Candidates()[f.peaks.Find(n.Name)])
		}
	}
}

func (f *Forecaster) candidate(c, last *windowpeak.Candidate) snapshot.Candidate {
	out := snapshot.Candidate{
		Name: c.Name(), Title: c.Title(), Free: c.Baseline(), Loss: math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
	}
	if err := c.Err(); err != nil {
		out.Error = err.Error()
		return out
	}
	out.Loss, out.Skill, out.Coverage = c.Loss(), skill(c, last), c.Coverage()
	out.Windows = c.Windows(f.config.Step, f.bound)
	return out
}

// path is the selected candidate's forecast step by step or, where that knows the lead window alone, that of the candidate of
// least pinball loss among those that know steps.
func (f *Forecaster) path(c *windowpeak.Candidate) (name string, path []snapshot.PathStep) {
	windows := f.peaks.Windows()
	steps, levels := windows[len(windows)-1], snapshot.PathLevels()
	c = f.stepper(c)
	points, quantiles := c.Path(steps, levels[:])
	limit := f.bound.Limit(len(windows) - 1)
	for i, point := range points {
		one := snapshot.PathStep{Time: f.End().Add(time.Duration(i) * f.config.Step)}
		one.Point, _ = limit.Cut(point)
		for j := range levels {
			one.Quantiles[j], _ = limit.Cut(quantiles[j][i])
		}
		path = append(path, one)
	}
	return c.Name(), path
}

// stepper is a candidate that forecasts step by step: the selected one if it does, else the one of least pinball loss.
func (f *Forecaster) stepper(c *windowpeak.Candidate) *windowpeak.Candidate {
	if c.Steps() {
		return c
	}
	best := c
	for _, other := range f.peaks.Candidates() {
		if other.Steps() && (!best.Steps() || other.Loss() < best.Loss()) {
			best = other
		}
	}
	return best
}
