package autoregress

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Fitted is an autoregression with its weights, and the past that it looks back upon.
type Fitted struct {
	lags     []int
	weights  []float64
	constant float64
	profile  profile
	// slot is that of the coming step in the profile.
	slot int
	// past holds the last values, as deviations from the profile in units of its scale; at is the oldest, which the
	// coming one replaces. A gap holds what was expected.
	past []float64
	at   int
	// smallest and largest value seen bound what forecasts may reach, since a regression on a trend can be explosive: they
	// go as far beyond the two as these are apart.
	smallest, largest float64
	// deviation is that of the one-step errors, in the scale of the profile; missed counts the gaps at the origin.
	deviation float64
	missed    int
	next      time.Time
	step      time.Duration
}

// newFitted is an autoregression at the end of a series, before its weights are known.
func newFitted(m Ridge, s forecast.Series, level profile, filled []float64) *Fitted {
	longest := m.Lags[len(m.Lags)-1]
	f := &Fitted{
		lags: slices.Clone(m.Lags), profile: level, slot: s.Len() % len(level.means),
		past:     slices.Clone(filled[len(filled)-longest:]),
		smallest: slices.Min(filled), largest: slices.Max(filled), next: s.End(), step: s.Step,
	}
	for i := s.Len() - 1; i >= 0 && math.IsNaN(s.Values[i]); i-- {
		f.missed++
	}
	return f
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing: the forecast
// takes its place.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	var z float64
	if numeric.Observed(y) {
		z = y/f.profile.scale - f.profile.means[f.slot]/f.profile.scale
		z = min(max(z, -numeric.Limit), numeric.Limit) // The scale may be as small as 1e-307.
		f.missed = 0
		f.smallest, f.largest = math.Min(f.smallest, z), math.Max(f.largest, z)
	} else {
		var coming [1]float64
		f.deviationsTo(coming[:])
		z = coming[0]
		f.missed++
	}
	f.past[f.at] = z
	f.at++
	if f.at == len(f.past) {
		f.at = 0
	}
	f.slot++
	if f.slot == len(f.profile.means) {
		f.slot = 0
	}
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	f.deviationsTo(dst)
	slot := f.slot
	for i, z := range dst {
		dst[i] = f.profile.means[slot] + f.profile.scale*z
		slot++
		if slot == len(f.profile.means) {
			slot = 0
		}
	}
}

// deviationsTo writes the coming deviations from the profile, each from those before it.
func (f *Fitted) deviationsTo(dst []float64) {
	room := f.largest - f.smallest
	low, high := f.smallest-room, f.largest+room
	for i := range dst {
		sum := f.constant
		for j, lag := range f.lags {
			back := i - lag
			if back >= 0 {
				sum += f.weights[j] * dst[back]
				continue
			}
			back += f.at
			if back < 0 {
				back += len(f.past)
			}
			sum += f.weights[j] * f.past[back]
		}
		dst[i] = min(max(sum, low), high)
	}
}

// Forecast is the forecast of the coming h steps. The standard errors sum the responses to the surprises up to each
// step, and reach no further than the series itself did.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	responses := make([]float64, len(out.Point)+f.reach())
	variance, most := 0.0, math.Max(f.largest-f.smallest, f.deviation)
	for i := range responses {
		responses[i] = f.response(responses, i)
		variance += responses[i] * responses[i]
		if step := i - f.reach(); step >= 0 {
			out.StdErr[step] = f.profile.scale * math.Min(f.deviation*math.Sqrt(variance), most)
		}
	}
	return out
}

// reach is how many missing steps at the origin widen the forecast: beyond the longest lag nothing is left to lose.
func (f *Fitted) reach() int { return min(f.missed, len(f.past)) }

// response of step i to a surprise of 1 at step 0.
func (f *Fitted) response(before []float64, i int) float64 {
	if i == 0 {
		return 1
	}
	sum := 0.0
	for j, lag := range f.lags {
		if lag > i {
			break
		}
		sum += f.weights[j] * before[i-lag]
	}
	return min(max(sum, -1e6), 1e6)
}

// Weights are those of the lags, in the order of the lags. The slice is the caller's.
func (f *Fitted) Weights() []float64 { return slices.Clone(f.weights) }
