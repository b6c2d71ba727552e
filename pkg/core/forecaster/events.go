package forecaster

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// expected is the demand that events announce. Candidates forecast the demand as it would be without: in an event they learn what
// they may believe of it, and their forecasts of windows with an event are raised or lowered to what is known.
type expected struct {
	// calendar is nil without events.
	calendar event.Calendar
	step     time.Duration
	// near are the occurrences from one time until another, longest is the longest of them.
	near        []event.Occurrence
	from, until time.Time
	longest     time.Duration
	// usual are the hourly means of what was learnt, last is its newest value.
	usual means
	last  float64
	// seen is what the occurrences of each name came to.
	seen map[string]*seen
	// newest are windows that were asked for since the newest step: each candidate asks for the same ones.
	newest []known
}

// known is what is known of the demand in [from, to).
type known struct {
	from, to time.Time
	effect   effect
}

const (
	// usualHours are those of a week, and of the day after it, which is forecast.
	usualHours = 9 * 24
	// lookAhead is how much of the calendar is read at once.
	lookAhead = 15 * windowpeak.Day
	// mostLike bounds how much one day of the week is another, both ways.
	mostLike = 20.0
	// mostNewest is how many windows are kept.
	mostNewest = 8
)

func newExpected(c Config) expected {
	if c.Events == nil {
		return expected{}
	}
	return expected{
		calendar: c.Events, step: c.Step, usual: newMeans(c.stepsIn(time.Hour), usualHours), last: math.NaN(),
		seen: map[string]*seen{},
	}
}

// effect is what is known of the demand of a window: a multiple of what it would be, how much more, and the least that it is.
type effect struct{ times, more, atLeast float64 }

// on is a demand with what is known of it.
func (k effect) on(v float64) float64 {
	if k == (effect{times: 1}) { // Nothing.
		return v
	}
	return math.Max(v*k.times+k.more, k.atLeast)
}

// read reads the calendar.
func (x *expected) read(from, to time.Time) {
	if !x.until.IsZero() && !from.Before(x.from) && !to.After(x.until) {
		return
	}
	x.from, x.until = from.Add(-lookAhead), to.Add(lookAhead)
	x.near, x.longest = x.calendar(x.from, x.until), 0
	for _, o := range x.near {
		x.longest = max(x.longest, o.End.Sub(o.Start))
	}
}

// within returns the occurrences that have a part in [from, to).
func (x *expected) within(from, to time.Time) (out []event.Occurrence) {
	x.read(from, to)
	for i := sort.Search(len(x.near), func(i int) bool { return !x.near[i].Start.Before(from.Add(-x.longest)) }); i < len(x.near) &&
		x.near[i].Start.Before(to); i++ {
		if x.near[i].End.After(from) {
			out = append(out, x.near[i])
		}
	}
	return out
}

// over is what is known of the demand in [from, to): its highest level with events beside the highest without.
func (x *expected) over(from, to time.Time) effect {
	for _, k := range x.newest {
		if k.from.Equal(from) && k.to.Equal(to) {
			return k.effect
		}
	}
	out := x.overall(from, to, x.within(from, to))
	if len(x.newest) < mostNewest {
		x.newest = append(x.newest, known{from, to, out})
	}
	return out
}

// overall is over by the occurrences that have a part in the time.
func (x *expected) overall(from, to time.Time, found []event.Occurrence) effect {
	if len(found) == 0 {
		return effect{times: 1}
	}
	points := []time.Time{from}
	for _, o := range found {
		points = append(points, o.Start, o.End)
	}
	for hour := from.Truncate(time.Hour).Add(time.Hour); hour.Before(to); hour = hour.Add(time.Hour) {
		points = append(points, hour) // What is usual changes.
	}
	out, highest, raised := effect{}, 0.0, 0.0
	for _, at := range points {
		if at.Before(from) || !at.Before(to) {
			continue
		}
		times, atLeast := x.at(at, found)
		out.times, out.atLeast = math.Max(out.times, times), math.Max(out.atLeast, atLeast)
		if usual := x.usualNear(at); usual > 0 {
			highest, raised = math.Max(highest, usual), math.Max(raised, usual*times)
		}
	}
	if highest > 0 {
		out.times, out.more = raised/highest, math.Max(out.atLeast-highest, 0)
	}
	return out
}

// at is what the occurrences about a time say of the demand then. Of several the greatest counts.
func (x *expected) at(at time.Time, all []event.Occurrence) (times, atLeast float64) {
	for _, o := range all {
		if at.Before(o.Start) || !at.Before(o.End) {
			continue
		}
		atLeast, times = math.Max(atLeast, o.AtLeast), math.Max(times, o.Times)
		if o.LikeDay != nil {
			times = math.Max(times, x.like(at, o))
		}
		if o.LikeLast {
			atLeast = math.Max(atLeast, x.seen[o.Name].before(o, at))
		}
	}
	if times == 0 {
		times = 1
	}
	return times, atLeast
}

// like is the usual demand of another day of the week, at that time of the day, as a multiple of that of the day itself.
func (x *expected) like(at time.Time, o event.Occurrence) float64 {
	passed := int(at.Sub(o.Start) / windowpeak.Day)
	back := (int(o.Weekday) + passed + 7 - int(*o.LikeDay)) % 7
	if back == 0 {
		return 1
	}
	ratio := x.usualAt(at.Add(-time.Duration(back)*windowpeak.Day)) / x.usualAt(at.Add(-7*windowpeak.Day))
	if !(ratio > 0) || math.IsInf(ratio, 0) {
		return 1
	}
	return min(max(ratio, 1/mostLike), mostLike)
}

// usualAt is what was learnt in an hour of the past; NaN if it is not known.
func (x *expected) usualAt(at time.Time) float64 {
	stride, hours := int64(x.usual.stride), x.usual.values.Newest()
	i := len(hours) - int(x.usual.last/stride-at.UnixNano()/int64(x.step)/stride)
	if i < 0 || i >= len(hours) {
		return math.NaN()
	}
	return hours[i]
}

// learn returns the sample that candidates learn from. What the demand would be without the event lies between it and what is left of
// it without the announced effect; of these the nearest to what is usual at that time is learnt. So nothing is learnt of an event that
// came as it was announced, nor of one that had no effect, and what is beyond the announcement is.
func (x *expected) learn(index int64, s demand.Sample) demand.Sample {
	if x.calendar == nil {
		return s
	}
	x.newest = x.newest[:0]
	at := time.Unix(0, index*int64(x.step)).UTC()
	end := at.Add(x.step)
	found := x.within(at, end)
	known := x.overall(at, end, found)
	observed := s.Value
	switch {
	case slices.ContainsFunc(found, func(o event.Occurrence) bool { return o.Ignored }):
		s.Value, s.Observed, s.Cause = math.NaN(), math.NaN(), demand.Ignored
	case known.times != 1 || known.more > 0:
		s.Value, s.Observed = x.without(at, s.Value, known), x.without(at, s.Observed, known)
	}
	if !math.IsNaN(s.Value) {
		x.last = s.Value
	}
	x.usual.observe(index+1, s.Value) // An hour begins with the step at its begin.
	x.note(at, found, observed, s.Value)
	return s
}

// without is a demand as it would be without an effect; NaN for a gap.
func (x *expected) without(at time.Time, v float64, known effect) float64 {
	all := math.Max(v-known.more, 0) / known.times
	low, high := math.Min(v, all), math.Max(v, all)
	if usual := x.usualNear(at); !math.IsNaN(usual) {
		return math.Min(math.Max(usual, low), high)
	}
	return low
}

// usualNear is what was learnt at that hour a week ago or, if it is not known, a day ago; else what was learnt last.
func (x *expected) usualNear(at time.Time) float64 {
	for _, ago := range []time.Duration{7 * windowpeak.Day, windowpeak.Day} {
		if usual := x.usualAt(at.Add(-ago)); !math.IsNaN(usual) {
			return usual
		}
	}
	return x.last
}

// seen is what the occurrences of an event came to.
type seen struct {
	// start is that of the newest occurrence; demand and usual are its sums, most is the highest demand.
	start         time.Time
	demand, usual float64
	most          float64
	// maxima of its parts, in order; last are those of the occurrence before.
	part         time.Duration
	maxima, last []float64
	// effects are those of the occurrences that have ended, the newest last, at most two.
	effects []event.Effect
}

// parts is how many maxima are kept of an occurrence.
const parts = 96

// note notes a sample of an event.
func (x *expected) note(at time.Time, found []event.Occurrence, observed, learnt float64) {
	for _, o := range found {
		s := x.seen[o.Name]
		if s == nil {
			s = &seen{}
			x.seen[o.Name] = s
		}
		if !s.start.Equal(o.Start) {
			s.begin(o, x.step)
		}
		if math.IsNaN(observed) {
			continue
		}
		s.demand += observed
		if !math.IsNaN(learnt) {
			s.usual += learnt
		}
		s.most = math.Max(s.most, observed)
		if i := int(at.Sub(o.Start) / s.part); i >= 0 && i < len(s.maxima) {
			s.maxima[i] = math.Max(s.maxima[i], observed)
		}
	}
}

// begin begins another occurrence.
func (s *seen) begin(o event.Occurrence, step time.Duration) {
	next := seen{start: o.Start, part: max(step, o.End.Sub(o.Start)/parts), maxima: make([]float64, parts)}
	if !s.start.IsZero() {
		next.last, next.effects = s.maxima, s.ended()
	}
	*s = next
}

// ended are the effects once the newest occurrence has ended.
func (s *seen) ended() []event.Effect {
	return slices.Concat(s.effects[max(0, len(s.effects)-1):], []event.Effect{s.cameTo()})
}

func (s *seen) cameTo() event.Effect {
	out := event.Effect{Start: s.start, Times: math.NaN(), Most: math.NaN()}
	if s.demand > 0 {
		out.Times, out.Most = s.demand/s.usual, s.most
	}
	return out
}

// before is the demand of the occurrence before another, at the same time after its start; 0 if it is not known.
func (s *seen) before(o event.Occurrence, at time.Time) float64 {
	if s == nil {
		return 0
	}
	known := s.maxima
	if s.start.Equal(o.Start) { // It has begun.
		known = s.last
	}
	if i := int(at.Sub(o.Start) / s.part); i >= 0 && i < len(known) {
		return known[i]
	}
	return 0
}

// known is what is known of the window with an index, the newest step included.
func (f *Forecaster) known(window int) effect {
	return f.ahead(time.Duration(f.peaks.Windows[window]) * f.config.Step)
}

// ahead is what is known of the demand from the newest step until so long after it, a fall that is followed included.
func (f *Forecaster) ahead(d time.Duration) effect {
	known := effect{times: 1}
	if f.events.calendar != nil { // Each candidate asks at each step.
		end := f.End()
		known = f.events.over(end.Add(-f.config.Step), end.Add(d))
	}
	if f.fall.steps > 0 {
		known.times *= f.fall.share
	}
	return known
}

// peak is a candidate's forecast of the window peak, with what is known of the window.
func (f *Forecaster) peak(c *windowpeak.Candidate) (peak windowpeak.Peak, forecast bool) {
	peak, forecast = c.Peak()
	known := f.known(f.peaks.LeadWindow)
	peak.Median, peak.Spread = known.on(peak.Median), peak.Spread*known.times
	return peak, forecast
}

// quantiles are a candidate's of the lead window.
func (f *Forecaster) quantiles(c *windowpeak.Candidate) windowpeak.Quantiles {
	return f.known(f.peaks.LeadWindow).onQuantiles(c.Quantiles(f.bound))
}

// onStep puts what is known of its time into a step.
func (k effect) onStep(step *snapshot.PathStep) {
	step.Point = k.on(step.Point)
	for i := range step.Quantiles {
		step.Quantiles[i] = k.on(step.Quantiles[i])
	}
}

func (k effect) onQuantiles(q windowpeak.Quantiles) windowpeak.Quantiles {
	for i := range q {
		q[i] = k.on(q[i])
	}
	return q
}

// windows are a candidate's quantiles over all calibrated windows.
func (f *Forecaster) windows(c *windowpeak.Candidate) []windowpeak.Window {
	out := c.Windows(f.config.Step, f.bound)
	for i := range out {
		out[i].Quantiles = f.ahead(out[i].Horizon).onQuantiles(out[i].Quantiles)
	}
	return out
}

// actualPeak is the maximum over the lead window that ends with the newest step, with what events added to it.
func (f *Forecaster) actualPeak() (peak float64, exact bool) {
	peak, exact = f.peaks.ActualPeak()
	if f.events.calendar != nil && !math.IsNaN(peak) {
		peak = math.Max(peak, series.MaxKnown(f.recent.Values()...))
	}
	return peak, exact
}

// announced is a reading with what is known of it.
func (f *Forecaster) announced(r demand.Reading, at time.Time) demand.Reading {
	if f.events.calendar != nil {
		known := f.events.over(at, at.Add(f.config.Step))
		r.Times, r.AtLeast = known.times, known.atLeast
	}
	return r
}

// announcedWords is what is known of the lead window: "launch (3 times the demand)".
func (f *Forecaster) announcedWords() string {
	if f.events.calendar == nil {
		return ""
	}
	var words []string
	for _, o := range f.events.within(f.End(), f.End().Add(f.config.Window)) {
		if word := o.String(); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return humanize.List(words)
}

// describe returns the events of the next two weeks, and what their last occurrences came to.
func (x *expected) describe(end time.Time) (out []snapshot.Event) {
	if x.calendar == nil {
		return nil
	}
	for _, o := range x.within(end, end.Add(lookAhead)) {
		if slices.ContainsFunc(out, func(e snapshot.Event) bool { return e.Name == o.Name }) {
			continue
		}
		one := snapshot.Event{Occurrence: o}
		if s := x.seen[o.Name]; s != nil {
			if one.Effects = s.effects; !s.start.Equal(o.Start) {
				one.Effects = s.ended()
			}
		}
		out = append(out, one)
	}
	return out
}
