// Package adjust is the seam for what changes the expected demand and stands in no history: an event, a planned outage. Candidates
// forecast the demand as it would be without; what is known is put into their forecasts, and taken out of what they learn.
package adjust

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// Effect is what is known of the demand of a window: a multiple of what it would be, how much more, and the least that it is.
type Effect struct{ Times, More, AtLeast float64 }

// Nothing is known.
func Nothing() Effect { return Effect{Times: 1} }

// On is a demand with what is known of it.
func (e Effect) On(v float64) float64 {
	if e == Nothing() {
		return v
	}
	return math.Max(v*e.Times+e.More, e.AtLeast)
}

// Adjustment is one thing that is known. Its state depends on the samples that it was asked about alone.
type Adjustment interface {
	// Over is what is known of the demand in [from, to).
	Over(from, to time.Time) Effect
	// Learn returns what candidates learn from the sample of the step that begins at a time. It is called for each step once, in order.
	Learn(at time.Time, s demand.Sample) demand.Sample
	// Words say what is known of [from, to): "launch (3 times the demand)".
	Words(from, to time.Time) []string
}

// Maker makes an Adjustment for a demand of a step.
type Maker func(step time.Duration) Adjustment

// All are several Adjustments, which are independent of each other.
type All []Adjustment

// Of makes them.
func Of(makers []Maker, step time.Duration) All {
	var out All
	for _, maker := range makers {
		out = append(out, maker(step))
	}
	return out
}

// Over implements Adjustment.
func (all All) Over(from, to time.Time) Effect {
	out := Nothing()
	for _, a := range all {
		e := a.Over(from, to)
		out.Times, out.More, out.AtLeast = out.Times*e.Times, out.More+e.More, math.Max(out.AtLeast, e.AtLeast)
	}
	return out
}

// Learn implements Adjustment.
func (all All) Learn(at time.Time, s demand.Sample) demand.Sample {
	for _, a := range all {
		s = a.Learn(at, s)
	}
	return s
}

// Words implements Adjustment, each once.
func (all All) Words(from, to time.Time) []string {
	var out []string
	for _, a := range all {
		for _, word := range a.Words(from, to) {
			if !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
	}
	return out
}
