package event

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Announced is an adjust.Adjustment for the demand that events announce. Candidates forecast the demand without the events. During an
// event, they learn only the part of the demand that the event does not explain (see Learn). Their forecasts of windows with an event are
// raised or lowered to what is known about the event.
type Announced struct {
	calendar Calendar
	step     time.Duration
	// near are the occurrences from the time from until the time until, and longest is the duration of the longest one.
	near        []Occurrence
	from, until time.Time
	longest     time.Duration
	// usual are the hourly means of the learned demand. last is the newest learned value.
	usual series.Means
	last  float64
	// seen has the observed demand of the occurrences, by the name of the event.
	seen map[string]*seen
	// newest caches the windows that were requested since the newest step, because every candidate requests the same windows.
	newest []known
}

// known is what is known about the demand in [from, to).
type known struct {
	from, to time.Time
	effect   adjust.Effect
}

const (
	// usualHours is the number of hourly means that are kept: a week, the day after it, which is forecast, and one spare day.
	usualHours = 9 * 24
	// lookAhead is how far before and after a window the calendar is read.
	lookAhead = 15 * windowpeak.Day
	// maxLike bounds the ratio of the demand of two days of the week, in both directions.
	maxLike = 20.0
	// maxNewest is the maximum number of cached windows.
	maxNewest = 8
)

// Adjust returns a Maker of an Announced for the occurrences of a calendar; nil if the calendar is nil.
func Adjust(calendar Calendar) []adjust.Maker {
	if calendar == nil {
		return nil
	}
	return []adjust.Maker{func(step time.Duration) adjust.Adjustment {
		stride := max(1, int((time.Hour+step-1)/step))
		return &Announced{
			calendar: calendar, step: step, usual: series.NewMeans(stride, usualHours), last: math.NaN(),
			seen: map[string]*seen{},
		}
	}}
}

// read reads the occurrences around [from, to) from the calendar, if they have not been read yet.
func (x *Announced) read(from, to time.Time) {
	if !x.until.IsZero() && !from.Before(x.from) && !to.After(x.until) {
		return
	}
	x.from, x.until = from.Add(-lookAhead), to.Add(lookAhead)
	x.near, x.longest = x.calendar(x.from, x.until), 0
	for _, o := range x.near {
		x.longest = max(x.longest, o.End.Sub(o.Start))
	}
}

// within returns the occurrences that overlap [from, to).
func (x *Announced) within(from, to time.Time) (out []Occurrence) {
	x.read(from, to)
	for i := sort.Search(len(x.near), func(i int) bool { return !x.near[i].Start.Before(from.Add(-x.longest)) }); i < len(x.near) &&
		x.near[i].Start.Before(to); i++ {
		if x.near[i].End.After(from) {
			out = append(out, x.near[i])
		}
	}
	return out
}

// Over implements adjust.Adjustment. It compares the highest level with events to the highest level without events.
func (x *Announced) Over(from, to time.Time) adjust.Effect {
	for _, k := range x.newest {
		if k.from.Equal(from) && k.to.Equal(to) {
			return k.effect
		}
	}
	out := x.overall(from, to, x.within(from, to))
	if len(x.newest) < maxNewest {
		x.newest = append(x.newest, known{from, to, out})
	}
	return out
}

// overall is Over for the given occurrences, which overlap [from, to).
func (x *Announced) overall(from, to time.Time, found []Occurrence) adjust.Effect {
	if len(found) == 0 {
		return adjust.Nothing()
	}
	points := []time.Time{from}
	for _, o := range found {
		points = append(points, o.Start, o.End)
	}
	for hour := from.Truncate(time.Hour).Add(time.Hour); hour.Before(to); hour = hour.Add(time.Hour) {
		points = append(points, hour) // The usual demand changes.
	}
	out, highest, raised := adjust.Effect{}, 0.0, 0.0
	for _, o := range found {
		out.Replicas = max(out.Replicas, o.Replicas)
	}
	for _, at := range points {
		if at.Before(from) || !at.Before(to) {
			continue
		}
		times, atLeast := x.at(at, found)
		out.Times, out.AtLeast = math.Max(out.Times, times), math.Max(out.AtLeast, atLeast)
		if usual := x.usualNear(at); usual > 0 {
			highest, raised = math.Max(highest, usual), math.Max(raised, usual*times)
		}
	}
	if highest > 0 {
		out.Times, out.More = raised/highest, math.Max(out.AtLeast-highest, 0)
	}
	return out
}

// at returns what the occurrences that contain a time say about the demand at that time. If there are several, the largest numbers count.
func (x *Announced) at(at time.Time, all []Occurrence) (times, atLeast float64) {
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

// like returns the usual demand of another day of the week at the same time of day, as a multiple of the usual demand of the day itself.
func (x *Announced) like(at time.Time, o Occurrence) float64 {
	passed := int(at.Sub(o.Start) / windowpeak.Day)
	back := (int(o.Weekday) + passed + 7 - int(*o.LikeDay)) % 7
	if back == 0 {
		return 1
	}
	ratio := x.usualAt(at.Add(-time.Duration(back)*windowpeak.Day)) / x.usualAt(at.Add(-7*windowpeak.Day))
	if !(ratio > 0) || math.IsInf(ratio, 0) {
		return 1
	}
	return min(max(ratio, 1/maxLike), maxLike)
}

// usualAt returns the mean demand that was learned in an hour of the past; NaN if it is unknown.
func (x *Announced) usualAt(at time.Time) float64 { return x.usual.At(at.UnixNano()/int64(x.step) + 1) }

// Learn implements adjust.Adjustment. The demand without the event is between the observed demand and the observed demand without the
// announced effect. Learn returns the value in this range that is nearest to the usual demand at that time. So the models learn nothing
// from an event that had the announced effect, and nothing from an event that had no effect. They learn only demand beyond the announced
// effect.
func (x *Announced) Learn(at time.Time, s demand.Sample) demand.Sample {
	x.newest = x.newest[:0]
	end := at.Add(x.step)
	found := x.within(at, end)
	known := x.overall(at, end, found)
	observed := s.Value
	switch {
	case slices.ContainsFunc(found, func(o Occurrence) bool { return o.Ignored }):
		s.Value, s.Observed, s.Cause = math.NaN(), math.NaN(), demand.Ignored
	case known.Times != 1 || known.More > 0:
		s.Value, s.Observed = x.without(at, s.Value, known), x.without(at, s.Observed, known)
	}
	if !math.IsNaN(s.Value) {
		x.last = s.Value
	}
	x.usual.Observe(at.UnixNano()/int64(x.step)+1, s.Value) // An hour starts with the step at its beginning.
	x.note(at, found, observed, s.Value)
	return s
}

// without returns what a demand would be without an effect; NaN for a gap.
func (x *Announced) without(at time.Time, v float64, known adjust.Effect) float64 {
	all := math.Max(v-known.More, 0) / known.Times
	low, high := math.Min(v, all), math.Max(v, all)
	if usual := x.usualNear(at); !math.IsNaN(usual) {
		return math.Min(math.Max(usual, low), high)
	}
	return low
}

// usualNear returns the demand that was learned at the same hour a week ago or, if it is unknown, a day ago. If both are unknown, it
// returns the newest learned value.
func (x *Announced) usualNear(at time.Time) float64 {
	for _, ago := range []time.Duration{7 * windowpeak.Day, windowpeak.Day} {
		if usual := x.usualAt(at.Add(-ago)); !math.IsNaN(usual) {
			return usual
		}
	}
	return x.last
}

// seen has the observed demand of the occurrences of an event.
type seen struct {
	// start is the start of the newest occurrence. demand and usual are the sums of its observed and its learned demand, and most is its
	// highest demand.
	start         time.Time
	demand, usual float64
	most          float64
	// maxima are the maxima of its parts, in order. part is the duration of a part. last are the maxima of the occurrence before.
	part         time.Duration
	maxima, last []float64
	// effects are the effects of the occurrences that have ended, at most two, the newest last.
	effects []Effect
}

// parts is the number of parts of an occurrence whose maxima are kept.
const parts = 96

// note records a sample in the occurrences that contain it.
func (x *Announced) note(at time.Time, found []Occurrence, observed, learnt float64) {
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

// begin starts another occurrence.
func (s *seen) begin(o Occurrence, step time.Duration) {
	next := seen{start: o.Start, part: max(step, o.End.Sub(o.Start)/parts), maxima: make([]float64, parts)}
	if !s.start.IsZero() {
		next.last, next.effects = s.maxima, s.ended()
	}
	*s = next
}

// ended returns the effects including the newest occurrence, which has ended.
func (s *seen) ended() []Effect {
	return slices.Concat(s.effects[max(0, len(s.effects)-1):], []Effect{s.cameTo()})
}

func (s *seen) cameTo() Effect {
	out := Effect{Start: s.start, Times: math.NaN(), Most: math.NaN()}
	if s.demand > 0 {
		out.Times, out.Most = s.demand/s.usual, s.most
	}
	return out
}

// before returns the demand of the occurrence before an occurrence, at the same time after its start; 0 if it is unknown.
func (s *seen) before(o Occurrence, at time.Time) float64 {
	if s == nil {
		return 0
	}
	known := s.maxima
	if s.start.Equal(o.Start) { // The occurrence has started, so last is the one before it.
		known = s.last
	}
	if i := int(at.Sub(o.Start) / s.part); i >= 0 && i < len(known) {
		return known[i]
	}
	return 0
}

// Words implements adjust.Adjustment.
func (x *Announced) Words(from, to time.Time) (words []string) {
	for _, o := range x.within(from, to) {
		words = append(words, o.String())
	}
	return words
}

// Describe returns the events of the two weeks after a time, with the effects of their last occurrences.
func (x *Announced) Describe(end time.Time) (out []Announcement) {
	for _, o := range x.within(end, end.Add(lookAhead)) {
		if slices.ContainsFunc(out, func(e Announcement) bool { return e.Name == o.Name }) {
			continue
		}
		one := Announcement{Occurrence: o}
		if s := x.seen[o.Name]; s != nil {
			if one.Effects = s.effects; !s.start.Equal(o.Start) {
				one.Effects = s.ended()
			}
		}
		out = append(out, one)
	}
	return out
}
