// Package adjust is the interface for known changes of the demand that the history does not contain, such as an event or a planned outage.
// Candidates forecast the demand without these changes. The changes are applied to their forecasts, and removed from what they learn.
package adjust

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// Effect is what is known about the demand of a window: a multiple of the usual demand, an additional amount, and a minimum. Replicas is the
// number of replicas to run at least, whatever the demand is.
type Effect struct {
	Times, More, AtLeast float64
	Replicas             int32
}

// Nothing is the Effect of no knowledge.
func Nothing() Effect { return Effect{Times: 1} }

// On applies the Effect to a demand.
func (e Effect) On(v float64) float64 {
	if e == Nothing() {
		return v
	}
	return math.Max(v*e.Times+e.More, e.AtLeast)
}

// Adjustment is one known change. Its state depends only on the samples that it received.
type Adjustment interface {
	// Over returns what is known about the demand in [from, to).
	Over(from, to time.Time) Effect
	// Learn returns what candidates learn from the sample of the step that begins at a time. It is called once for each step, in order.
	Learn(at time.Time, s demand.Sample) demand.Sample
	// Words describe what is known about [from, to): "launch (3 times the demand)".
	Words(from, to time.Time) []string
}

// Maker creates an Adjustment for a demand with a step.
type Maker func(step time.Duration) Adjustment

// All is a list of independent Adjustments.
type All []Adjustment

// Of creates the Adjustments.
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
		out.Replicas = max(out.Replicas, e.Replicas)
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
