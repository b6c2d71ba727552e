// Package intermittent forecasts demand that is often 0: a queue that empties, a batch that comes now and then, nights
// without a request.
//
//	Croston  the size of a demand over the steps between two (Croston 1972), or less, as Syntetos & Boylan (2005) correct it
//	TSB      the size of a demand times the probability that there is one (Teunter, Syntetos & Babai 2011)
//	Slots    for each slot of the day, the probability of 0
//
// Croston learns only where there is a demand, so that its forecast stays where demand has ended; TSB fades then. Both
// forecast a mean, the same for all steps ahead. Slots are a hurdle for the quantiles of any forecast: they are exactly 0
// up to the probability of 0, which no distribution with one mean and one width has. Negative values count as 0.
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

// Slots are the hurdle of a series whose nights have no demand: the probabilities that a slot of the day is 0, each learnt
// from that slot on the days so far (Cragg 1971; of counts, Mullahy 1986).
type Slots struct {
	shares, days []float64
	// all is the share of zeros over all slots, of so many observations.
	all, count float64
	at         int
}

const (
	// rememberedDays is how many days a slot's share is a mean of; then older ones fade.
	rememberedDays = 28
	// priorDays is for how many days of a slot the share of all slots counts.
	priorDays = 0.5
)

// NewSlots are those of a day of so many steps, 1 for all steps alike. Nothing is known yet. The zero Slots have no day:
// nothing is 0.
func NewSlots(period int) Slots {
	return Slots{shares: make([]float64, period), days: make([]float64, period)}
}

// Update takes the observation of the coming slot, NaN where it is missing. What is not above 0 counts as 0.
func (z *Slots) Update(y float64) {
	if len(z.shares) == 0 {
		return
	}
	slot := z.at
	z.at = (z.at + 1) % len(z.shares)
	if math.IsNaN(y) {
		return
	}
	zero := indicator(!(y > 0))
	z.days[slot] = min(z.days[slot]+1, rememberedDays)
	z.shares[slot] += (zero - z.shares[slot]) / z.days[slot]
	z.count = min(z.count+1, rememberedDays*float64(len(z.shares)))
	z.all += (zero - z.all) / z.count
}

// Zero is the probability that the step so many after the coming one is 0.
func (z *Slots) Zero(ahead int) float64 {
	if len(z.shares) == 0 {
		return 0
	}
	slot := (z.at + ahead) % len(z.shares)
	n := z.days[slot]
	return (n*z.shares[slot] + priorDays*z.all) / (n + priorDays)
}
