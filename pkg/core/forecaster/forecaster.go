package forecaster

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/trailing"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Forecaster is one series' life. It is not safe for concurrent use.
type Forecaster struct {
	config Config

	// What a sample is worth. flags are the readings that the filter holds back; screen and spans have seen what has passed.
	filter *credible.Filter
	flags  []classify.Reading
	screen *classify.Screen
	spans  *classify.Spans

	demand demand
	// recent are the samples of the lead window before the newest one that is known; missing is how many came after that.
	recent  trailing.Ring[float64]
	missing int
	bound   credible.Bound // as of the newest sample
	// held is the demand while samples are held back; NaN where none is.
	held float64

	// What comes of it: nil before the first sample. fault is why there is no objective that was asked for.
	peaks     *windowpeak.Set
	selection *selection
	fault     error
	inputs    []decide.Input
	others    []decide.Input // of another answer; scratch
	decision  decide.Decision
	record    record
	next      int64 // index of the next step since the epoch
	observed  int   // samples seen that were no gaps
}

// History is a demand as it was read.
type History struct {
	forecast.Series
	// Saturated and AtZero say of a time that the service hid its demand, and that there was no replica; nil means never.
	Saturated, AtZero func(time.Time) bool
}

// Reading is that of a step.
func (h History) Reading(i int) classify.Reading {
	out := classify.Reading{Demand: h.Values[i]}
	at := h.TimeAt(i)
	out.Saturated = h.Saturated != nil && h.Saturated(at)
	out.Asleep = h.AtZero != nil && h.AtZero(at)
	return out
}

// New steps through a history. The configuration must be valid. In hindsight, as a whole history is read, suspects that were
// corroborated later in it are none; but for these the state is the same as after as many calls of Step. An empty history is
// a beginning, too.
func New(config Config, history History) *Forecaster {
	horizons := windowpeak.Config{Step: config.Step, Window: config.Window, Windows: config.horizons()}.AllWindows()
	f := &Forecaster{
		config:   config,
		filter:   credible.NewFilter(config.credible(horizons)),
		screen:   classify.NewScreen(classify.Config{Step: config.Step, Capacity: decide.Usable(config.Scalings)}),
		spans:    classify.NewSpans(config.Step),
		demand:   newDemand(config),
		recent:   trailing.NewRing[float64](config.stepsIn(config.Window) + 1),
		held:     math.NaN(),
		next:     history.Start.UnixNano() / int64(config.Step),
		record:   newRecord(config, len(history.Values), config.stepsIn(config.Window)),
		decision: decide.Decision{Value: math.NaN(), Observed: math.NaN()},
	}
	var passed []credible.Sample
	for i, v := range history.Values {
		f.flags = append(f.flags, history.Reading(i))
		passed = append(passed, f.filter.Step(v)...)
	}
	for _, s := range passed {
		if s.Suspect && s.Demand <= f.filter.Cap() {
			s.Suspect = false
		}
		f.pass(s)
	}
	f.flags = slices.Clone(f.flags) // Those of the whole history need not stay.
	f.hold()
	return f
}

// Step takes the next reading.
func (f *Forecaster) Step(r classify.Reading) {
	f.flags = append(f.flags, r)
	for _, s := range f.filter.Step(r.Demand) {
		f.pass(s)
	}
	f.hold()
}

// pass takes a sample of which it is known whether it is credible.
func (f *Forecaster) pass(s credible.Sample) {
	r := f.flags[0]
	f.flags = f.flags[1:]
	r.Demand, r.Suspect = s.Demand, s.Suspect
	sample := f.screen.Step(r)
	sample.Bound = s.Bound
	at := f.End()
	f.spans.Add(at, sample.Cause)
	f.step(sample)
}

// step takes the next sample: what was forecast of it is scored, the candidates forecast anew, and it is decided. What is
// missing before the first sample is no gap: the workload was not there yet.
func (f *Forecaster) step(sample classify.Sample) {
	index := f.next
	f.next++
	f.held = math.NaN()
	if f.peaks == nil && (math.IsNaN(sample.Value) || !f.begin(index)) {
		return
	}
	f.bound = sample.Bound
	f.remember(sample.Value)
	now, atLeast := f.demand.observe(sample)
	if !math.IsNaN(now) {
		f.observed++
	}
	f.record.observe(index, now)
	f.peaks.Step(windowpeak.Sample{Observed: now, Arrived: sample.Value, AtLeast: atLeast, Bound: f.bound})
	f.selection.step(f, sample.Value)
	peak, exact := f.peaks.Came()
	f.record.resolve(index, peak, !exact)
	f.decide()
	f.record.serve(index, f.decision.Value)
}

// Late is the age of the newest sample above which the fallback serves: a few steps, so that one failed scrape changes nothing.
func Late(step time.Duration) time.Duration {
	const steps, least = 4, 2 * time.Minute
	return max(steps*step, least)
}

// remember takes a sample for the fallback, NaN for none.
func (f *Forecaster) remember(v float64) {
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

// Fallback is what is served while no candidate can be: the running maximum of the samples over the lead window, and the same
// time last season where that has proved itself on this series; never less than is observed.
func (f *Forecaster) Fallback() decide.Decision {
	observed := f.credit()
	if f.peaks == nil {
		return decide.Fallback(f.config.Policy, decide.ByObserved, observed, observed, 0)
	}
	rule, most := decide.ByRunningMax, math.Max(trailing.Most(f.recent.Newest()...), 0)
	if q, ok := f.lastSeason(); ok && q > most {
		rule, most = decide.ByLastSeason, q
	}
	return decide.Fallback(f.config.Policy, rule, most, observed, f.config.Window)
}

// lastSeason is the median of the window peak by the same time last season, where it beats the last value.
func (f *Forecaster) lastSeason() (median float64, ok bool) {
	at := f.peaks.Find(windowpeak.LastSeason)
	if at < 0 {
		return 0, false
	}
	c := f.peaks.Candidates()[at]
	if !c.Calibrated() || !(skill(c, f.peaks.Candidates()[f.peaks.Find(windowpeak.LastValue)]) > 0) {
		return 0, false
	}
	q := c.Quantiles(f.bound)
	return q.At(0.5), true
}

// begin makes what forecasts and decides.
func (f *Forecaster) begin(index int64) bool {
	config, err := f.config.peaks()
	if err == nil {
		f.peaks, err = windowpeak.New(config)
	}
	if err != nil {
		f.fault = err
		return false
	}
	f.selection, f.fault = newSelection(f.config, f.peaks, time.Unix(0, index*int64(f.config.Step)).UTC())
	return true
}

// decide makes the decision from the candidate that is selected; without one the value is NaN: the caller falls back.
func (f *Forecaster) decide() {
	f.decision = decide.Decision{Value: math.NaN(), Observed: f.credit()}
	f.inputs = f.inputs[:0]
	if f.peaks == nil {
		return
	}
	if c := f.selection.candidate(0); f.selection.serves(0, c) {
		f.inputs = f.look(f.inputs, 0, c)
		f.decision = decide.Decide(f.selection.policies[0], f.selection.multiple(0), f.inputs)
	}
}

// look writes what an answer is made of to dst: what it looks back over, with the distribution of the window peak now.
func (f *Forecaster) look(dst []decide.Input, answer int, c *windowpeak.Candidate) []decide.Input {
	dst = append(dst[:0], f.selection.inputs(answer)...)
	if len(dst) == 0 {
		peak, _ := c.Peak()
		dst = append(dst, decide.Input{Peak: peak})
	}
	f.refine(&dst[len(dst)-1], c)
	return dst
}

// refine sets in the newest input of a candidate what is known now.
func (f *Forecaster) refine(newest *decide.Input, c *windowpeak.Candidate) {
	newest.Observed, newest.Window, newest.Limit = f.credit(), c.Quantiles(f.bound), f.limit()
	newest.Suspect = f.held > newest.Observed
}

// ValuesTo writes what is served for the policy, and for each of those beside it, to dst: NaN where the caller falls back.
func (f *Forecaster) ValuesTo(dst []float64) {
	dst[0] = f.decision.Value
	for i := 1; i < len(dst); i++ {
		dst[i] = math.NaN()
		if f.peaks == nil {
			continue
		}
		if c := f.selection.candidate(i); f.selection.serves(i, c) {
			f.others = f.look(f.others, i, c)
			dst[i] = decide.Decide(f.selection.policies[i], f.selection.multiple(i), f.others).Value
		}
	}
}

// limit is the most that history justifies over the lead window.
func (f *Forecaster) limit() credible.Limit {
	if f.peaks == nil {
		return f.bound.Limit(0)
	}
	return f.bound.Limit(f.peaks.Own())
}

// credit is what the observed demand counts for.
func (f *Forecaster) credit() float64 {
	if !math.IsNaN(f.held) {
		return f.limit().Credit(f.held)
	}
	return f.limit().Credit(f.demand.known)
}

// hold decides while samples are held back as suspects: they teach nothing, and are served as far as they are credible.
func (f *Forecaster) hold() {
	waiting := f.filter.Waiting()
	if len(waiting) == 0 {
		return
	}
	f.bound = waiting[len(waiting)-1].Bound
	for len(waiting) > 1 && math.IsNaN(waiting[len(waiting)-1].Demand) {
		waiting = waiting[:len(waiting)-1] // What is observed holds on over gaps.
	}
	newer := make([]float64, 0, 8)
	for _, s := range waiting[max(0, len(waiting)-cap(f.demand.samples)):] {
		newer = append(newer, s.Demand)
	}
	f.held = f.demand.with(newer)
	f.decide()
}

// Waiting are the samples that are held back as suspects, the oldest first, and for how long they must last to be believed.
func (f *Forecaster) Waiting() (held []credible.Sample, lasts time.Duration) {
	return f.filter.Waiting(), f.filter.Corroboration()
}

// Spans are the times at which the demand was not simply known.
func (f *Forecaster) Spans() *classify.Spans { return f.spans }

// End is the time of the next sample that has passed.
func (f *Forecaster) End() time.Time { return time.Unix(0, f.next*int64(f.config.Step)).UTC() }

// Read is the end of what was read: those that are held back included.
func (f *Forecaster) Read() time.Time {
	return f.End().Add(time.Duration(len(f.flags)) * f.config.Step)
}

// Span is how long the samples seen, gaps left out, reach over.
func (f *Forecaster) Span() time.Duration { return time.Duration(f.observed) * f.config.Step }

// Decided says whether a candidate serves; without one the caller falls back.
func (f *Forecaster) Decided() bool { return !math.IsNaN(f.decision.Value) }

// Objective is what calibrates the decision by its outcome; nil where nothing does.
func (f *Forecaster) Objective() *outcome.Objective {
	if f.selection == nil {
		return nil
	}
	return f.selection.objective
}

// Windows are the distributions of the peaks of all windows that are calibrated, by the candidate that serves or, where that
// knows the lead window alone, the best of those that know others.
func (f *Forecaster) Windows() []windowpeak.Window {
	if f.peaks == nil {
		return nil
	}
	return f.stepper(f.selection.candidate(0)).Windows(f.config.Step, f.bound)
}

// Peaks are the candidates; nil before the first sample.
func (f *Forecaster) Peaks() *windowpeak.Set { return f.peaks }
