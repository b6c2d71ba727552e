package autoregress

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Fitted is an autoregression with its weights, and the past values that it reads.
type Fitted struct {
	lags     []int
	weights  []float64
	constant float64
	profile  profile
	// slot is the slot of the next step in the profile.
	slot int
	// past are the last values, as deviations from the profile in units of its scale. at is the index of the oldest value, which the next
	// value replaces. A gap has its forecast.
	past []float64
	at   int
	// smallest and largest are the smallest and the largest value so far. They bound the forecasts, because a regression on a trend can be
	// explosive. Forecasts may go beyond them by at most their difference.
	smallest, largest float64
	// deviation is the deviation of the one-step errors, in the scale of the profile. missed counts the gaps at the origin.
	deviation float64
	missed    int
	next      time.Time
	step      time.Duration
}

// newFitted returns an autoregression at the end of a series, without its weights.
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

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing, and is replaced with the
// forecast.
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

// PointsTo writes the point forecasts of the next len(dst) steps to dst.
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

// deviationsTo writes the forecasts of the next deviations from the profile. Each is computed from the deviations before it.
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

// Forecast returns the forecast of the next h steps. The standard errors include the responses to the errors of all steps before. They are
// limited by the range of the series.
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

// reach returns the number of missing steps at the origin that widen the forecast, at most the longest lag.
func (f *Fitted) reach() int { return min(f.missed, len(f.past)) }

// response returns the response of step i to a forecast error of 1 at step 0. before are the responses of the steps before it.
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

// Weights returns the weights of the lags, in the order of the lags. The caller may change the slice.
func (f *Fitted) Weights() []float64 { return slices.Clone(f.weights) }
