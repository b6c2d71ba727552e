package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/repair"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Forecaster is one series' model life. It is not safe for concurrent use.
type Forecaster struct {
	config   Config
	horizons []int
	members  []*member
	own      int // index of the lead window among the horizons

	demand    demand
	censored  censored
	bound     credible.Bound     // as of the newest sample
	suspended float64            // the demand while samples are held back; NaN where none is
	objective *outcome.Objective // nil where none is served
	fault     error              // why none is served that was asked for
	scales    *ring              // of the windows that are open
	gate      gate
	inputs    []decide.Input
	record    record

	next     int64 // index of the next step since the epoch
	observed int   // samples seen that were no gaps
	decision decide.Decision

	maxima []float64 // scratch
	path   []float64 // scratch
}

// New fits every candidate on the first part of a history and replays the rest. The configuration must be valid. A
// history that is too short for a model is that model's error, never New's: an empty history is a beginning, too.
func New(config Config, history repair.Series) *Forecaster {
	return begin(config, config.horizons(), chosen(config.Models), history)
}

func begin(config Config, horizons []int, candidates []blueprint, history repair.Series) *Forecaster {
	history = begun(history)
	split := len(history.Values) - config.replay(len(history.Values))
	train := history.Slice(0, split)
	f := empty(config, horizons, candidates, history.Series, mean(train.Values))
	known := f.warm(train)
	for _, m := range f.members {
		m.fit(config, known)
	}
	for i := split; i < len(history.Values); i++ {
		f.Step(history.At(i))
	}
	if f.objective != nil {
		f.objective.Fit()
	}
	return f
}

// empty is a Forecaster at the beginning of a history.
func empty(
	config Config, horizons []int, candidates []blueprint, history forecast.Series, typical float64,
) *Forecaster {
	window := config.stepsIn(config.Window)
	longest := horizons[len(horizons)-1]
	every := max(1, config.replay(len(history.Values))/scoreCount)
	f := &Forecaster{
		config: config, horizons: horizons, gate: gate{serving: -1}, suspended: math.NaN(),
		demand: newDemand(config, longest, typical), scales: newRing(longest), censored: newCensored(config),
		record: newRecord(config, len(history.Values), window),
		next:   history.Start.UnixNano() / int64(config.Step),
		maxima: make([]float64, len(horizons)), path: make([]float64, longest),
	}
	for _, b := range candidates {
		f.members = append(f.members, newMember(b, config, horizons, every))
	}
	f.own = f.members[0].own
	f.objective, f.fault = newObjective(config, history.Start)
	if f.objective == nil {
		f.config.Policy.Target = 0 // A quantile rules.
	}
	return f
}

// warm lets the scales and the record see the training part, and gives the demand to fit models to.
func (f *Forecaster) warm(train repair.Series) forecast.Series {
	values := make([]float64, len(train.Values))
	for i := range values {
		values[i] = f.watch(train.At(i))
		if f.censored.within(1) {
			values[i] = lastSeason(values[:i+1], f.config.season())
		}
		f.scales.push(f.demand.scale())
	}
	out := train.Series
	out.Values = values
	return out
}

// watch takes a sample into the demand and gives it; f.maxima are then those of the windows that end here.
func (f *Forecaster) watch(sample repair.Sample) float64 {
	index := f.next
	f.next++
	window := f.horizons[f.own]
	before := math.NaN()
	if f.demand.recent.len() >= window {
		before = f.demand.recent.ago(window - 1)
	}
	f.censored.see(sample)
	now := f.demand.observe(sample)
	f.demand.recent.maximaTo(f.maxima, f.horizons)
	if move := math.Abs(f.maxima[f.own] - before); !math.IsNaN(move) {
		f.demand.moves.add(move)
	}
	f.record.observe(index, now)
	f.bound = sample.Bound
	if f.objective != nil {
		f.objective.Step(outcome.Sample{
			Observed: now, Arrived: sample.Value, AtLeast: f.censored.within(1), Limit: f.limit(),
		})
	}
	if !math.IsNaN(now) {
		f.observed++
	}
	return now
}

// Step takes the next sample: scores what was forecast, forecasts anew, and decides. A masked one is a gap; for a lower
// bound see censored.
func (f *Forecaster) Step(sample repair.Sample) {
	index := f.next
	f.suspended = math.NaN()
	now := f.watch(sample)
	f.record.resolve(index, f.maxima[f.own], f.censored.within(f.horizons[f.own]))
	scale := f.demand.scale()
	for _, m := range f.members {
		if m.err == nil {
			m.score(index, f.maxima, f.scales, &f.censored)
			m.advance(m.evidence(now, f.censored.within(1)), scale, f.bound, f.path)
		}
	}
	f.scales.push(scale)
	f.gate.choose(f.members)
	f.decide(scale)
	f.record.serve(index, f.decision.Value)
}

// decide makes the decision from the member that serves; without one the value is NaN: the caller falls back.
func (f *Forecaster) decide(scale float64) {
	if f.gate.serving < 0 || math.IsNaN(f.demand.observed) {
		f.inputs, f.decision = f.inputs[:0], decide.Decision{Value: math.NaN(), Observed: f.credit()}
		return
	}
	f.look(f.members[f.gate.serving].quantiles(f.own, scale, f.bound))
	f.decision = decide.Decide(f.config.Policy, f.multiple(), f.inputs)
}

// look takes down what a decision is made of: the distribution of the window's maximum and, for an objective, what it
// looks back over.
func (f *Forecaster) look(window decide.Quantiles) {
	f.inputs = f.inputs[:0]
	if f.objective != nil {
		f.inputs = append(f.inputs, f.objective.Inputs()...)
	}
	if len(f.inputs) == 0 {
		f.inputs = append(f.inputs, decide.Input{Typical: f.demand.level.mean()})
	}
	newest := &f.inputs[len(f.inputs)-1]
	newest.Observed, newest.Window, newest.Limit = f.credit(), window, f.limit()
	newest.Suspect = f.suspended > newest.Observed
}

// limit is the most that history justifies over the lead window.
func (f *Forecaster) limit() credible.Limit { return f.bound.Limit(f.own) }

// credit is what the observed demand counts for.
func (f *Forecaster) credit() float64 {
	if !math.IsNaN(f.suspended) {
		return f.limit().Credit(f.suspended)
	}
	return f.limit().Credit(f.demand.observed)
}

// Suspend decides while samples are held back as suspects, the oldest first and one at least: they teach nothing, and are
// served as far as they are credible. It holds until the next Step.
func (f *Forecaster) Suspend(held []credible.Sample) {
	f.bound = held[len(held)-1].Bound
	sum, n := 0.0, 0.0
	take := func(v float64) {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	newest := held[max(0, len(held)-f.config.average()):]
	for _, s := range newest {
		take(s.Demand)
	}
	for i := range min(f.config.average()-len(newest), f.demand.raw.len()) {
		take(f.demand.raw.ago(i))
	}
	if n > 0 {
		f.suspended = sum / n
	}
	f.decide(f.demand.scale())
}

// End is the time of the next sample.
func (f *Forecaster) End() time.Time { return time.Unix(0, f.next*int64(f.config.Step)).UTC() }

// Observed is the demand at the newest sample as far as it is credible, NaN before the first.
func (f *Forecaster) Observed() float64 { return f.credit() }

// Span is how long the samples seen, gaps left out, reach over.
func (f *Forecaster) Span() time.Duration { return time.Duration(f.observed) * f.config.Step }

// Decided says whether a candidate serves; without one the caller falls back.
func (f *Forecaster) Decided() bool { return !math.IsNaN(f.decision.Value) }

// Describe writes what the forecaster knows to an entry.
func (f *Forecaster) Describe(e *snapshot.Entry) {
	e.Window = time.Duration(f.horizons[f.own]) * f.config.Step
	e.Reach = time.Duration(f.horizons[len(f.horizons)-1]) * f.config.Step
	e.Observed = f.credit()
	e.Decision = f.decision
	e.Skill, e.Coverage = math.NaN(), f.record.covered.mean()
	e.ModelReason = f.gate.reason(f.members)
	e.Outcome = f.report()
	if f.objective != nil {
		e.ModelReason = "for quantiles and the path, " + e.ModelReason // An objective has a shape of its own.
	}
	if f.fault != nil {
		e.ModelReason += "; the objective is not served: " + f.fault.Error()
	}
	e.Inputs = append([]decide.Input(nil), f.inputs...)
	e.Recent, e.Past = f.record.recent(), f.record.forecasts()
	for _, m := range f.members {
		e.Candidates = append(e.Candidates, f.candidate(m))
	}
	if f.gate.serving >= 0 {
		m := f.members[f.gate.serving]
		e.Model, e.Skill, e.Path = m.name, skill(m, f.members[0]), f.pathOf(m)
	}
}

func (f *Forecaster) candidate(m *member) snapshot.Candidate {
	c := snapshot.Candidate{
		Name:     m.name,
		Title:    m.title,
		Free:     m.free,
		Loss:     math.NaN(),
		Skill:    math.NaN(),
		Coverage: math.NaN(),
	}
	if m.err != nil {
		c.Error = m.err.Error()
		return c
	}
	c.Loss, c.Skill, c.Coverage = loss(m), skill(m, f.members[0]), m.coverage.mean()
	scale := f.demand.scale()
	for i, h := range f.horizons {
		if m.calibrated(i) {
			horizon := time.Duration(h) * f.config.Step
			c.Windows = append(c.Windows, decide.Window{Horizon: horizon, Quantiles: m.quantiles(i, scale, f.bound)})
		}
	}
	return c
}

// pathOf is a member's forecast step by step, up to the longest horizon. The quantiles of the first step are calibrated
// by what came; from there on they widen as the model's own standard errors do. (Those errors themselves are not taken at
// their word: one outage in the history inflates them for good.)
func (f *Forecaster) pathOf(m *member) []snapshot.PathStep {
	forecasts := m.fitted.Forecast(f.horizons[len(f.horizons)-1])
	out := make([]snapshot.PathStep, len(forecasts.Point))
	first, scale := forecasts.StdErr[0], f.demand.scale()
	limit := f.bound.Limit(len(f.horizons) - 1)
	for j, level := range snapshot.PathLevels() {
		spread := scale * m.views[0].scores.Quantile(m.adaptive.Level(level))
		for i, point := range forecasts.Point {
			widening := 1.0
			if first > 0 {
				widening = forecasts.StdErr[i] / first
			}
			out[i].Quantiles[j], _ = limit.Cut(math.Max(0, point+spread*widening))
		}
	}
	for i, point := range forecasts.Point {
		out[i].Time = f.End().Add(time.Duration(i) * f.config.Step)
		out[i].Point, _ = limit.Cut(math.Max(0, point))
	}
	return out
}

// begun is a series from its first sample on: what lies before is no outage, the workload was not there yet.
func begun(s repair.Series) repair.Series {
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			return s.Slice(i, len(s.Values))
		}
	}
	return s.Slice(len(s.Values), len(s.Values))
}

// mean is that of the values that are not gaps; 0 where all are.
func mean(values []float64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / math.Max(n, 1)
}
