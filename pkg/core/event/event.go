// Package event describes announced events that the history of a demand cannot predict, such as a launch, a holiday, a load test or an
// outage. Package forecaster applies them to its forecasts; package calendar reads them.
package event

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Knowledge is what is known about the demand during an event. The zero Knowledge contains no information.
type Knowledge struct {
	// Times is the demand as a multiple of the demand without the event; 0 if unknown.
	Times float64
	// AtLeast is the lowest demand to expect at the peak of the event; 0 if unknown.
	AtLeast float64
	// Replicas is the number of replicas to run at least, whatever the demand is; 0 if unknown.
	Replicas int32
	// LikeLast: the demand is like the demand of the last occurrence of the event with this name.
	LikeLast bool
	// LikeDay is the day of the week whose shape the demand has; nil for its own day.
	LikeDay *time.Weekday
	// Ignored: models do not learn from the demand.
	Ignored bool
}

// String describes the knowledge: "3 times the demand".
func (k Knowledge) String() string {
	switch {
	case k.Times != 0:
		return humanize.Number(k.Times) + " times the demand"
	case k.AtLeast != 0:
		return "at least " + humanize.Number(k.AtLeast)
	case k.Replicas != 0:
		return "at least " + humanize.Plural(int(k.Replicas), "replica")
	case k.LikeLast:
		return "like the last occurrence"
	case k.LikeDay != nil:
		return "like a " + k.LikeDay.String()
	case k.Ignored:
		return "models do not learn from it"
	}
	return ""
}

// Effect is the observed effect of an occurrence.
type Effect struct {
	Start time.Time
	// Times is the demand as a multiple of the usual demand; Most is the highest demand. Both are NaN without a sample.
	Times, Most float64
}

// minEffect is the smallest part of the announced effect that counts as an effect.
const minEffect = 0.25

// Failed reports that an occurrence had no effect, although an effect was announced.
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

// Occurrence is one occurrence of an event, from Start to before End, in UTC.
type Occurrence struct {
	Name       string
	Start, End time.Time
	// Weekday of its start, in the time zone of the event.
	Weekday time.Weekday
	Knowledge
}

// String is the name and the knowledge: "launch (3 times the demand)".
func (o Occurrence) String() string { return o.Name + " (" + o.Knowledge.String() + ")" }

// Calendar returns the occurrences that overlap [from, to), sorted by start and name. It is a function, so that copies of a Forecaster
// share it.
type Calendar func(from, to time.Time) []Occurrence

// Overlap returns two occurrences that overlap in time, in order of their start; ok is false if there are none.
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

// Announcement is the present or next occurrence of an event, with the effects of the last two occurrences that have ended, newest last.
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
