// Package event is what is known of a demand beforehand, and what no history holds: a launch, a holiday, a load test, an outage. Package
// forecaster applies it to its forecasts; package calendar reads it.
package event

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Knowledge is what is known of the demand. The zero Knowledge is nothing.
type Knowledge struct {
	// Times is the demand as a multiple of what it would be without the event; 0 if that is not known.
	Times float64
	// AtLeast is the least demand to expect at its height; 0 if that is not known.
	AtLeast float64
	// LikeLast: the demand is that of the last occurrence of this name.
	LikeLast bool
	// LikeDay is the day of the week, whose shape the demand has; nil for its own.
	LikeDay *time.Weekday
	// Ignored: nothing is learnt from the demand.
	Ignored bool
}

// String is what is known: "3 times the demand".
func (k Knowledge) String() string {
	switch {
	case k.Times != 0:
		return humanize.Number(k.Times) + " times the demand"
	case k.AtLeast != 0:
		return "at least " + humanize.Number(k.AtLeast)
	case k.LikeLast:
		return "as the last time"
	case k.LikeDay != nil:
		return "as on a " + k.LikeDay.String()
	case k.Ignored:
		return "nothing is learnt from it"
	}
	return ""
}

// Effect is what an occurrence came to.
type Effect struct {
	Start time.Time
	// Times is the demand as a multiple of what is usual, Most the highest demand. NaN without a sample.
	Times, Most float64
}

// minEffect is the part of what was announced from which on an event has had an effect.
const minEffect = 0.25

// Failed reports that an occurrence had no effect, though one was known.
func (k Knowledge) Failed(e Effect) bool {
	switch {
	case k.Times > 1:
		return e.Times < 1+minEffect*(k.Times-1)
	case k.Times != 0:
		return e.Times > 1-minEffect*(1-k.Times)
	case k.AtLeast != 0:
		return e.Most < minEffect*k.AtLeast
	}
	return false
}

// Occurrence is one of an event, from Start to before End, in UTC.
type Occurrence struct {
	Name       string
	Start, End time.Time
	// Weekday is that of its start, in the time zone of the event.
	Weekday time.Weekday
	Knowledge
}

// String is the name and what is known: "launch (3 times the demand)".
func (o Occurrence) String() string { return o.Name + " (" + o.Knowledge.String() + ")" }

// Calendar returns the occurrences that have a part in [from, to), by their start and name. It is a function, so that a copy of a
// Forecaster shares it.
type Calendar func(from, to time.Time) []Occurrence

// Overlap returns two occurrences that have a time in common; ok is false without any. They are in order of their start.
func Overlap(all []Occurrence) (a, b Occurrence, ok bool) {
	for i := 1; i < len(all); i++ {
		if latest := longest(all[:i]); all[i].Start.Before(latest.End) {
			return latest, all[i], true
		}
	}
	return Occurrence{}, Occurrence{}, false
}

func longest(all []Occurrence) Occurrence {
	return slices.MaxFunc(all, func(a, b Occurrence) int { return a.End.Compare(b.End) })
}

// Announcement is the next occurrence of an event, or the present one, and what the last two that have ended came to, the newest last.
type Announcement struct {
	Occurrence
	Effects []Effect
}

// Failed reports that the last two occurrences had no effect.
func (e *Announcement) Failed() bool {
	for _, effect := range e.Effects {
		if !e.Knowledge.Failed(effect) {
			return false
		}
	}
	return len(e.Effects) >= 2
}
