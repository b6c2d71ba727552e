package forecaster

import (
	"errors"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/clone"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Forecaster holds the state of one series. It is not safe for concurrent use.
type Forecaster struct {
	config Config

	// Demand classification. screen and spans contain what passed the filter.
	filter *demand.Filter
	screen *demand.Classifier
	spans  spans

	demand observedDemand
	adjust adjust.All
	// recent are the samples of the lead window before the newest known sample; missing is the number of gaps after it.
	recent  series.Ring[float64]
	missing int
	bound   demand.Bound // the bound as of the newest sample
	// unfaded is the newest value from before an outage, without decay.
	unfaded float64
	// newest is the observed demand at each of the last steps.
	newest series.Ring[float64]
	// held is the demand while samples are held back, otherwise NaN.
	held float64
	// fall is the sudden low that is no longer doubted.
	fall fall
	idle idleness

	// Candidates and decision; nil before the first sample. objectiveErr says why an objective is not calibrated.
	peaks        *windowpeak.CandidateSet
	selection    *selection
	objectiveErr error
	inputs       []decide.Input
	extraInputs  []decide.Input // for the extra settings; scratch
	decision     decide.Decision
	// distributor plans the part of each workload that shares the value; nil if there is only one workload.
	distributor distribute.Distributor
	plan        distribute.Plan
	record      record
	next        int64 // index of the next step since the epoch
	observed    int   // samples without gaps
}

// History is a demand as it was read from the source.
type History struct {
	forecast.Series
	// Saturated, ScaledToZero and Incomplete report whether the service was saturated, had no replica, or the source still adds to
	// the sample of a time; nil means never.
	Saturated, ScaledToZero, Incomplete func(time.Time) bool
	// Deferrable is the work of a step that may wait; nil for none.
	Deferrable func(time.Time) float64
}

// Reading returns the reading of the i-th step.
func (h History) Reading(i int) demand.Reading {
	at := h.TimeAt(i)
	out := demand.Reading{
		Demand:       h.Values[i],
		Saturated:    h.Saturated != nil && h.Saturated(at),
		ScaledToZero: h.ScaledToZero != nil && h.ScaledToZero(at),
		Incomplete:   h.Incomplete != nil && h.Incomplete(at),
	}
	if h.Deferrable != nil {
		out.Deferrable = h.Deferrable(at)
	}
	return out
}

// New replays a history, which may be empty. The configuration must be valid. The state is the same as after a call of Step for each
// reading, except that suspects that the history confirms later are credible from the start.
func New(config Config, history History) *Forecaster {
	horizons := windowpeak.Config{Step: config.Step, Window: config.Window, Windows: config.horizons()}.AllWindows()
	f := &Forecaster{
		config: config, filter: demand.NewFilter(config.credibleConfig(horizons)),
		screen: demand.NewClassifier(config.Step, decide.MaxCapacity(config.Autoscalers)),
		spans:  spans{step: config.Step}, demand: newObservedDemand(config),
		adjust: adjust.Of(config.Adjust, config.Step),
		recent: series.NewRing[float64](config.stepsIn(config.Window) + 1),
		newest: series.NewRing[float64](config.stepsIn(newestSpan) + 1),
		held:   math.NaN(), next: history.Start.UnixNano() / int64(config.Step),
		record:   newRecord(config, len(history.Values), config.stepsIn(config.Window)),
		decision: decide.Decision{Value: math.NaN(), Observed: math.NaN()},
		idle:     idleness{below: decide.ZeroBelow(config.Autoscalers)},
	}
	passed := make([]demand.Reading, 0, len(history.Values))
	for i := range history.Values {
		passed = append(passed, f.filter.Step(f.announced(history.Reading(i), history.TimeAt(i)))...)
	}
	for _, r := range passed {
		if r.Suspect && r.Demand <= f.filter.Cap() {
			r.Suspect = false
		}
		f.accept(r)
	}
	if config.Lifetime > 0 && f.peaks != nil {
		f.peaks.EndIn(config.stepsIn(config.Lifetime))
	}
	f.decideHeld()
	f.decideFallen()
	f.applyZero()
	return f
}

// Clone returns an independent Forecaster in the same state.
func (f *Forecaster) Clone() *Forecaster { return clone.Of(f) }

// Step records the next reading and decides.
func (f *Forecaster) Step(r demand.Reading) {
	passed := f.filter.Step(f.announced(r, f.ReadUntil()))
	f.fall = fall{}
	for _, r := range passed {
		f.accept(r)
	}
	f.decideHeld()
	f.decideFallen()
	f.applyZero()
}

// accept classifies a reading that the filter has passed on, and processes it in a step.
func (f *Forecaster) accept(r demand.Reading) {
	r.Incomplete = r.Incomplete && r.Demand < f.demand.known // A higher demand than before is a real rise.
	sample := f.screen.Step(r)
	sample.Bound, sample.Deferrable = r.Bound, r.Deferrable
	f.spans.add(f.End(), sample.Cause)
	f.step(sample)
}

// step processes a sample: it scores the forecasts that end with it, forecasts again and decides. Missing samples before the first sample
// are not gaps, because the workload did not exist yet.
func (f *Forecaster) step(sample demand.Sample) {
	index := f.next
	f.next++
	f.held = math.NaN()
	if f.peaks == nil && (math.IsNaN(sample.Value) || !f.start(index)) {
		return
	}
	if sample.Faded > 0 {
		sample.Bound.Left = f.unfaded * (1 - sample.Faded)
	}
	f.bound = sample.Bound
	f.keepRecent(sample.Value)
	sample.Observed, sample.Censored = f.demand.observe(sample)
	if !math.IsNaN(sample.Observed) {
		f.observed++
	}
	learnt := f.adjust.Learn(time.Unix(0, index*int64(f.config.Step)).UTC(), sample)
	f.record.observe(index, sample.Observed, learnt.Observed)
	f.peaks.Step(learnt)
	f.selection.step(f, sample.Value, sample.Deferrable)
	f.record.resolve(index, f.actualPeak())
	f.decide()
	f.countIdle(sample)
	value := f.decision.Value
	if !f.Decided() {
		value = f.Fallback().Value
	}
	if sample.Faded == 0 {
		f.unfaded = value
	}
	if f.distributor != nil {
		f.plan = f.distributor.Step(value)
	}
	f.applyZero()
	f.record.serve(index, f.decision.Value)
	f.newest.Push(f.credited())
}

// newestSpan is how long a pause can hold a demand: the default scale-down stabilization of an HPA.
const newestSpan = 5 * time.Minute

// FallbackAfter is the age of the newest sample above which the fallback serves: a few steps, so that one failed scrape changes
// nothing.
func FallbackAfter(step time.Duration) time.Duration {
	const steps, least = 4, 2 * time.Minute
	return max(steps*step, least)
}

// StaleAfter is the default age of the newest sample from which on no value is served. Missed scrapes are common, and a forecast for a
// window needs no new samples before the window ends.
func StaleAfter(window, step time.Duration) time.Duration {
	const least = 10 * time.Minute
	return max(least, window, 2*step)
}

// keepRecent stores a sample for the fallback; NaN for a gap.
func (f *Forecaster) keepRecent(v float64) {
	if math.IsNaN(v) {
		f.missing++
		return
	}
	for range min(f.missing, f.recent.Cap()) {
		f.recent.Push(math.NaN())
	}
	f.missing = 0
	f.recent.Push(v)
}

// Fallback is the decision while no candidate can serve: the larger of the running maximum over the lead window and, if it has
// skill on this series, the same time last season; at least the observed demand.
func (f *Forecaster) Fallback() decide.Decision {
	observed := f.credited()
	if f.peaks == nil {
		return decide.Fallback(f.config.Settings, decide.ByObserved, observed, observed, 0)
	}
	rule, value := decide.ByRunningMax, math.Max(series.MaxKnown(f.recent.Values()...), 0)
	if q, ok := f.lastSeason(); ok && q > value {
		rule, value = decide.ByLastSeason, q
	}
	if f.bound.Left > 0 {
		value = min(value, f.bound.Left)
	}
	value = math.Max(value, f.known(f.peaks.LeadWindow).AtLeast)
	d := decide.Fallback(f.config.Settings, rule, value, observed, f.config.Window)
	d.RaiseTo(f.config.Settings, f.Minimum())
	asleep := f.asleep()
	if asleep {
		d.Expected = 0 // For a lead window, nothing was observed. The running maximum may be a little older.
	}
	d.ApplyZero(f.config.Settings, asleep)
	return d
}

// lastSeason returns the median of the window peak that the candidate LastSeason forecasts, if this candidate has skill.
func (f *Forecaster) lastSeason() (median float64, ok bool) {
	at := f.peaks.Find(windowpeak.LastSeason)
	if at < 0 {
		return 0, false
	}
	c := f.peaks.Candidates[at]
	if !c.Calibrated() || !(skill(c, f.peaks.Candidates[f.peaks.Find(windowpeak.LastValue)]) > 0) {
		return 0, false
	}
	q := c.Quantiles(f.bound)
	return q.At(0.5), true
}

// start creates the candidates and their selection at the first sample.
func (f *Forecaster) start(index int64) bool {
	config, err := f.config.windowPeakConfig()
	if err == nil {
		f.peaks, err = windowpeak.NewCandidateSet(config)
	}
	if err != nil {
		f.objectiveErr = err
		return false
	}
	start := time.Unix(0, index*int64(f.config.Step)).UTC()
	f.selection, f.objectiveErr = newSelection(f.config, f.peaks, start)
	if f.config.Distribute != nil {
		f.distributor, err = f.config.Distribute(start, f.config.Step)
		f.objectiveErr = errors.Join(f.objectiveErr, err)
	}
	return true
}

// decide decides with the selected candidate. If this candidate cannot serve, the value is NaN and the caller falls back.
func (f *Forecaster) decide() {
	f.decision = decide.Decision{Value: math.NaN(), Observed: f.credited()}
	f.inputs = f.inputs[:0]
	if f.peaks == nil {
		return
	}
	if c := f.selection.candidate(0); f.selection.canServe(0, c) {
		f.inputs = f.inputsTo(f.inputs, 0, c)
		f.decision = f.selection.decide(0, f.inputs)
		f.decision.LastSeason = f.peaks.LastSeasonPeak()
	}
}

// inputsTo writes the inputs of a decision for the settings with an index to dst.
func (f *Forecaster) inputsTo(dst []decide.Input, of int, c *windowpeak.Candidate) []decide.Input {
	byHeadroom, calibrator := f.selection.settings[of].ByHeadroom(), f.selection.calibrator
	if dst = dst[:0]; byHeadroom {
		dst = append(dst, calibrator.Inputs(of)...)
	}
	if f.fall.steps > 0 && !f.fall.outage && f.fall.steps >= f.config.stepsIn(f.config.Window) {
		dst = dst[:0] // With an objective, a fall is followed once it has lasted for a lead window.
	}
	if len(dst) == 0 {
		peak, _ := f.peak(c)
		dst = append(dst, decide.Input{Peak: peak})
	}
	newest := &dst[len(dst)-1]
	f.completeInput(newest)
	if byHeadroom {
		newest.DeadBand, newest.DeadlineFloor = calibrator.DeadBand(of), calibrator.DeadlineFloor(of)
	} else {
		newest.Quantiles = f.quantiles(c)
	}
	return dst
}

// completeInput completes a candidate's newest input with what is known now.
func (f *Forecaster) completeInput(newest *decide.Input) {
	newest.Limit = f.limit()
	newest.Observed = newest.Limit.CapObserved(f.current())
	newest.Minimum = f.Minimum()
	newest.Suspect = f.held > newest.Observed
	newest.Events = f.eventsAhead()
}

// ValuesTo writes the values of the Settings and of each of the ExtraSettings to dst; NaN if the caller must fall back.
func (f *Forecaster) ValuesTo(dst []float64) {
	dst[0] = f.decision.Value
	for i := 1; i < len(dst); i++ {
		dst[i] = math.NaN()
		if f.peaks == nil {
			continue
		}
		if c := f.selection.candidate(i); f.selection.canServe(i, c) {
			f.extraInputs = f.inputsTo(f.extraInputs, i, c)
			d := f.selection.decide(i, f.extraInputs)
			d.ApplyZero(f.selection.settings[i], f.decision.Zero.Asleep)
			dst[i] = d.Value
		}
	}
}

// limit returns the maximum that the history justifies over the lead window.
func (f *Forecaster) limit() demand.Limit {
	if f.peaks == nil {
		return f.bound.Limit(0)
	}
	known := f.known(f.peaks.LeadWindow)
	return f.bound.Limit(f.peaks.LeadWindow).Raised(known.Times, known.AtLeast)
}

// current returns the observed demand, including suspects.
func (f *Forecaster) current() float64 {
	if !math.IsNaN(f.held) {
		return f.held
	}
	return f.demand.known
}

// credited returns the observed demand, limited to what is credible.
func (f *Forecaster) credited() float64 { return f.limit().CapObserved(f.current()) }

// decideHeld decides while suspects are held back. Candidates do not see the suspects, but the suspects are served as far as they are
// credible.
func (f *Forecaster) decideHeld() {
	waiting := f.filter.Waiting()
	if len(waiting) == 0 {
		return
	}
	f.bound = waiting[len(waiting)-1].Bound
	for len(waiting) > 1 && math.IsNaN(waiting[len(waiting)-1].Demand) {
		waiting = waiting[:len(waiting)-1] // The observed demand stays over gaps.
	}
	newer := make([]float64, 0, 8)
	for _, s := range waiting[max(0, len(waiting)-cap(f.demand.samples)):] {
		newer = append(newer, s.Demand)
	}
	f.held = f.demand.with(newer)
	f.decide()
}

// Suspects are the readings that are held back because they are too high, the oldest first, and how long they must last to be credible.
func (f *Forecaster) Suspects() (held []demand.Reading, lasts time.Duration) {
	return f.filter.Waiting(), f.filter.Corroboration()
}

// CurrentSpan is the span that contains the newest sample, whose end is given; ok is false if the demand is known.
func (f *Forecaster) CurrentSpan(end time.Time) (span demand.Span, ok bool) {
	if f.fall.outage {
		return f.suspectedOutage(end), true
	}
	return f.spans.current(end)
}

// End is the end of the samples that passed the filter.
func (f *Forecaster) End() time.Time { return time.Unix(0, f.next*int64(f.config.Step)).UTC() }

// ReadUntil is the end of all samples, including samples that are held back.
func (f *Forecaster) ReadUntil() time.Time {
	fallen, _ := f.filter.Fallen()
	return f.End().Add(time.Duration(len(f.filter.Waiting())+len(fallen)) * f.config.Step)
}

// Span is the total time of the samples, without gaps.
func (f *Forecaster) Span() time.Duration { return time.Duration(f.observed) * f.config.Step }

// Decided reports whether a candidate serves; if none does, the caller falls back.
func (f *Forecaster) Decided() bool { return !math.IsNaN(f.decision.Value) }

// Calibrator calibrates the headroom; nil without an objective.
func (f *Forecaster) Calibrator() *objective.Calibrator {
	if f.selection == nil {
		return nil
	}
	return f.selection.calibrator
}

// LimitParts sets the present sizes of workloads that cannot grow, see distribute.Distributor.
func (f *Forecaster) LimitParts(limits []float64) {
	if f.distributor != nil {
		f.distributor.Limit(limits)
	}
}

// PaidByPart returns the replica-hours of each workload in the newest whole hours; nil if there is only one workload.
func (f *Forecaster) PaidByPart(hours int) []float64 {
	if f.distributor == nil {
		return nil
	}
	return f.distributor.ReplicaHours(hours)
}

// Windows returns the selected candidate's quantiles over all calibrated windows. If this candidate forecasts only the lead window, it
// returns the quantiles of the best candidate that forecasts steps.
func (f *Forecaster) Windows() []windowpeak.Window {
	if f.peaks == nil {
		return nil
	}
	return f.windows(f.stepForecaster(f.selection.candidate(0)))
}
