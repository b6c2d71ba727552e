package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Describe writes the forecaster's state to an entry.
func (f *Forecaster) Describe(e *snapshot.ForecastSnapshot) {
	e.Observed, e.Decision, e.Newest = f.credited(), f.decision, f.newest.Values()
	e.Skill, e.Coverage = math.NaN(), math.NaN()
	e.Recent, e.Past = f.record.demand.Series(f.config.Step), f.record.forecasts()
	if f.record.peaks != nil {
		e.ServedPeaks = f.record.peaks.Series(f.config.Step)
	}
	e.Classifications = f.spans.since(e.Recent.Start)
	if f.fall.outage {
		e.Classifications = append(e.Classifications, f.suspectedOutage(f.ReadUntil()))
	}
	for _, a := range f.adjust {
		if announced, ok := a.(*event.Announced); ok {
			e.Events = announced.Describe(f.End())
		}
	}
	e.Plan = f.plan
	if from, known := f.dueReturn(); known {
		e.ReturnDue = time.Unix(0, from*int64(f.config.Step)).UTC()
	}
	if f.peaks == nil {
		return
	}
	windows := f.peaks.Windows
	e.Window = time.Duration(windows[f.peaks.LeadWindow]) * f.config.Step
	e.MaxHorizon = time.Duration(windows[len(windows)-1]) * f.config.Step
	if e.Inputs = append([]decide.Input(nil), f.inputs...); len(e.Inputs) > 0 {
		e.Inputs[len(e.Inputs)-1].Quantiles = f.quantiles(f.selection.candidate(0)) // For selectors with a quantile.
	}
	last := f.peaks.Candidates[f.peaks.Find(windowpeak.LastValue)]
	for _, c := range f.peaks.Candidates {
		e.Candidates = append(e.Candidates, f.candidate(c, last))
	}
	for _, name := range windowpeak.FittedModels() {
		if f.Lacks(name) {
			e.Candidates = append(e.Candidates, snapshot.Candidate{
				Name: name, Title: name, Error: notFitted, Loss: math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
			})
		}
	}
	f.describeSelection(e, last)
}

// notFitted says why a candidate that no autoscaler or request selects has no forecast.
const notFitted = "not fitted, because no autoscaler or request selects it; when a request selects it, Forewarm fits it at the next step"

// Lacks reports whether a candidate is not fitted, because no autoscaler reads it and no request selects it (Config.Named).
func (f *Forecaster) Lacks(name string) bool {
	return len(f.config.Models) == 0 && !f.config.selects(name) && !f.config.names(name)
}

// describeSelection adds the selected candidate and the reason for the selection.
func (f *Forecaster) describeSelection(e *snapshot.ForecastSnapshot, last *windowpeak.Candidate) {
	e.Choice = f.selection.byPinballLoss.Reason(f.selection.scored)
	if o := f.selection.calibrator; o != nil {
		e.Objective = o.Report()
		if e.Objective != nil {
			e.Choice = e.Objective.Selection
			f.refineNamed(e.Objective)
			if f.decision.Bounded && e.Objective.Verdict == objective.Met { // It may not be met then.
				e.Objective.Verdict, e.Objective.Limit = objective.Bounded, f.limit()
			}
		}
	}
	e.ObjectiveError = f.objectiveErr
	if !f.Decided() {
		return
	}
	c := f.selection.candidate(0)
	e.Model, e.Skill, e.Coverage = c.Name, skill(c, last), c.Coverage()
	e.PathModel, e.Path = f.path(c)
}

// refineNamed completes the newest inputs of the candidates that autoscalers select by name.
func (f *Forecaster) refineNamed(r *objective.Report) {
	for _, n := range r.Named {
		if len(n.Inputs) > 0 {
			newest := &n.Inputs[len(n.Inputs)-1]
			f.completeInput(newest)
			newest.Quantiles = f.quantiles(f.peaks.Candidates[f.peaks.Find(n.Name)])
			newest.DeadlineFloor = f.selection.calibrator.DeadlineFloor(0)
		}
	}
}

func (f *Forecaster) candidate(c, last *windowpeak.Candidate) snapshot.Candidate {
	out := snapshot.Candidate{
		Name: c.Name, Title: c.Title(), Baseline: c.Baseline,
		Loss: math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
	}
	if err := c.Err(); err != nil {
		out.Error = err.Error()
		return out
	}
	out.Loss, out.Skill, out.Coverage = c.Loss(), skill(c, last), c.Coverage()
	out.Windows = f.windows(c)
	return out
}

// path is the step-by-step forecast of the stepForecaster of a candidate.
func (f *Forecaster) path(c *windowpeak.Candidate) (name string, path []snapshot.PathStep) {
	windows := f.peaks.Windows
	steps, levels := windows[len(windows)-1], snapshot.PathLevels()
	c = f.stepForecaster(c)
	points, quantiles := c.Path(steps, levels[:])
	limit := f.bound.Limit(len(windows) - 1)
	for i, point := range points {
		one := snapshot.PathStep{Time: f.End().Add(time.Duration(i) * f.config.Step)}
		one.Point, _ = limit.CapForecast(point)
		for j := range levels {
			one.Quantiles[j], _ = limit.CapForecast(quantiles[j][i])
		}
		onStep(f.adjust.Over(one.Time, one.Time.Add(f.config.Step)), &one)
		path = append(path, one)
	}
	return c.Name, path
}

// stepForecaster is a candidate that forecasts step by step: the given one if it does, otherwise the one with the lowest pinball loss.
func (f *Forecaster) stepForecaster(c *windowpeak.Candidate) *windowpeak.Candidate {
	if c.ForecastsSteps() {
		return c
	}
	best := c
	for i, other := range f.peaks.Candidates {
		if !f.selection.byName[i] && other.ForecastsSteps() && (!best.ForecastsSteps() || other.Loss() < best.Loss()) {
			best = other
		}
	}
	return best
}
