package intermittent

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Croston is Croston's method: the sizes of demands and the steps between them are smoothed, each where there is a
// demand, and the forecast is their ratio.
type Croston struct {
	// Alpha is the share of a surprise that moves size and interval, above 0 and at most 1; 0 means 0.1.
	Alpha float64
	// Corrected multiplies the forecast by 1 − α/2: the ratio of two means is more than the mean of the ratio, by about
	// that (Syntetos & Boylan 2005, known as SBA).
	Corrected bool
}

// TSB is the method of Teunter, Syntetos & Babai: size times probability. The probability is smoothed at every step,
// the size where there is a demand.
type TSB struct {
	// Alpha is the share of a surprise that moves the size, Beta that of the probability, each above 0 and at most 1; 0
	// means 0.1.
	Alpha, Beta float64
}

var (
	_ forecast.Model  = Croston{}
	_ forecast.Model  = TSB{}
	_ forecast.Fitted = (*fitted)(nil)
)

const defaultAlpha = 0.1

// Name is "Croston" or "Croston(SBA)".
func (m Croston) Name() string {
	if m.Corrected {
		return "Croston(SBA)"
	}
	return "Croston"
}

// Fit wants one observation. It starts with the first demand and with the steps up to it. Without a demand the forecast is
// 0. Errors: forecast.ErrParameter, forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Croston) Fit(s forecast.Series) (forecast.Fitted, error) {
	f := &fitted{alpha: cmp.Or(m.Alpha, defaultAlpha), factor: 1, croston: true}
	if m.Corrected {
		f.factor = 1 - f.alpha/2
	}
	return f.fit(m.Name(), s)
}

// Name is "TSB".
func (TSB) Name() string { return "TSB" }

// Fit wants one observation. It starts with the size of the first demand; the probability is a plain mean until its
// smoothing is slower. Errors: forecast.ErrParameter, forecast.ErrTooShort, forecast.ErrNotFinite.
func (m TSB) Fit(s forecast.Series) (forecast.Fitted, error) {
	f := &fitted{alpha: cmp.Or(m.Alpha, defaultAlpha), beta: cmp.Or(m.Beta, defaultAlpha), factor: 1}
	return f.fit(m.Name(), s)
}

// fitted is either method at its origin. Sizes are in units of scale.
type fitted struct {
	alpha, beta, factor float64
	croston             bool
	// size is that of a demand, interval the steps from one to the next, share the probability of one.
	size, interval, share float64
	// since is how many steps ago the last demand was, began means that there was one; seen counts the observations.
	since, seen float64
	began       bool
	// squares are those of the one-step errors, of which there were errors.
	squares, errors float64
	scale           float64
	next            time.Time
	step            time.Duration
}

func (f *fitted) fit(name string, s forecast.Series) (forecast.Fitted, error) {
	for _, share := range []float64{f.alpha, f.beta} {
		if !(share >= 0 && share <= 1) {
			return nil, fmt.Errorf("%s: a smoothing of %v, want it from 0 to 1: %w", name, share, forecast.ErrParameter)
		}
	}
	if err := numeric.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.scale, f.next, f.step = numeric.Scale(s.Values), s.Start, s.Step
	for _, y := range s.Values {
		f.Update(y)
	}
	return f, nil
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing: it is a step like
// those between demands.
func (f *fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.since++
	if !numeric.Observed(y) {
		return
	}
	y = min(max(y/f.scale, 0), numeric.Limit)
	if f.began {
		e := y - f.rate()
		f.squares += e * e
		f.errors++
	}
	f.seen++
	f.share += max(f.beta, 1/f.seen) * (indicator(y > 0) - f.share)
	if !(y > 0) {
		return
	}
	if !f.began {
		f.size, f.interval, f.began = y, f.since, true
	}
	f.size += f.alpha * (y - f.size)
	f.interval += f.alpha * (f.since - f.interval)
	f.since = 0
}

// rate is the demand a step.
func (f *fitted) rate() float64 {
	switch {
	case !f.began:
		return 0
	case f.croston:
		return f.factor * f.size / f.interval
	default:
		return f.size * f.share
	}
}

// PointsTo writes the mean demand to every step.
func (f *fitted) PointsTo(dst []float64) {
	for i := range dst {
		dst[i] = f.scale * f.rate()
	}
}

// Forecast is the mean demand of every step. Its standard error is that of one step so far, at every horizon.
func (f *fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.scale * math.Sqrt(f.squares/math.Max(f.errors, 1))
	}
	return out
}
