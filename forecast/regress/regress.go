package regress

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Term is one regressor, or a few that belong together.
type Term interface {
	// Width is the number of its columns. It does not change.
	Width() int
	// Row writes the columns at a step to dst, which has room for Width: finite numbers, preferably not far from 1. The
	// first step of the series is 1, and at is its time.
	Row(dst []float64, step int, at time.Time)
}

// Validator is a Term with parameters of its own, which can be wrong.
type Validator interface {
	// Validate returns an error that wraps forecast.ErrParameter.
	Validate() error
}

// Design is all terms of a regression side by side.
type Design []Term

// Width is the number of columns of all terms.
func (d Design) Width() int {
	n := 0
	for _, term := range d {
		n += term.Width()
	}
	return n
}

// Row writes the columns of all terms at a step to dst.
func (d Design) Row(dst []float64, step int, at time.Time) {
	for _, term := range d {
		n := term.Width()
		term.Row(dst[:n:n], step, at)
		dst = dst[n:]
	}
}

// Validate reports the first term that cannot be used.
func (d Design) Validate() error {
	for i, term := range d {
		if term == nil || term.Width() < 0 {
			return fmt.Errorf("regressor %d: no term: %w", i+1, forecast.ErrParameter)
		}
		if v, ok := term.(Validator); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("regressor %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// Mean is a constant 1. Differences leave nothing of it.
type Mean struct{}

// Width is 1.
func (Mean) Width() int { return 1 }

// Row is 1 at every step.
func (Mean) Row(dst []float64, _ int, _ time.Time) { dst[0] = 1 }

// Drift is the number of the step: its coefficient is the slope per step.
type Drift struct{}

// Width is 1.
func (Drift) Width() int { return 1 }

// Row is the number of the step.
func (Drift) Row(dst []float64, step int, _ time.Time) { dst[0] = float64(step) }

// Fourier is a season of any period, whole or not, as its first harmonics: sin(2πkt/m), cos(2πkt/m) for k = 1 …
// Harmonics and step t. Two periods in one model are two terms. A harmonic of half the period (2k = m) has no sine, as
// it is 0 at every step.
type Fourier struct {
	// Period is the season's length m in steps, at least 2.
	Period float64
	// Harmonics is how many waves describe it, at most Period/2.
	Harmonics int
}

// Validate reports a period or a number of harmonics out of range.
func (f Fourier) Validate() error {
	if !(f.Period >= 2) || math.IsInf(f.Period, 0) || f.Harmonics < 1 || 2*float64(f.Harmonics) > f.Period {
		return fmt.Errorf("fourier: %d harmonics of period %v, want from 1 to half the period: %w",
			f.Harmonics, f.Period, forecast.ErrParameter)
	}
	return nil
}

// Width is two columns a harmonic, one for that of half the period.
func (f Fourier) Width() int {
	if 2*float64(f.Harmonics) == f.Period {
		return 2*f.Harmonics - 1
	}
	return 2 * f.Harmonics
}

// Row is sine and cosine of each harmonic in turn. The phase is reduced to one period first, which keeps the digits of
// a step far from the first.
func (f Fourier) Row(dst []float64, step int, _ time.Time) {
	phase := math.Mod(float64(step), f.Period) / f.Period
	for k := 1; k <= f.Harmonics; k++ {
		sine, cosine := math.Sincos(2 * math.Pi * math.Mod(float64(k)*phase, 1))
		if 2*float64(k) == f.Period {
			dst[2*k-2] = cosine
			return
		}
		dst[2*k-2], dst[2*k-1] = sine, cosine
	}
}

// Event is 1 while something goes on and 0 otherwise: a sale, a nightly batch run, a release that stays.
type Event struct {
	// Start is when it first begins.
	Start time.Time
	// Length is how long it lasts each time; 0 means for good.
	Length time.Duration
	// Every is the time from one beginning to the next; 0 means that it comes once.
	Every time.Duration
}

// Validate reports a negative duration, or an event that begins again before it ends.
func (e Event) Validate() error {
	if e.Length < 0 || e.Every < 0 || e.Every > 0 && (e.Length == 0 || e.Length > e.Every) {
		return fmt.Errorf("event: length %v, every %v; want it to end before it comes again: %w",
			e.Length, e.Every, forecast.ErrParameter)
	}
	return nil
}

// Width is 1.
func (Event) Width() int { return 1 }

// Row is 1 if the event goes on at the time, else 0.
func (e Event) Row(dst []float64, _ int, at time.Time) {
	dst[0] = 0
	since := at.Sub(e.Start)
	if since < 0 {
		return
	}
	if e.Every > 0 {
		since %= e.Every
	}
	if e.Length == 0 || since < e.Length {
		dst[0] = 1
	}
}
