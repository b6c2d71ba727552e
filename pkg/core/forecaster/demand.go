package forecaster

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// observedDemand computes the observed demand, which is the mean of the newest samples. It also knows how long ago a sample was censored.
//
// Censored demand is served as it is observed. It is evidence only if it is above a forecast, because the real demand was then above the
// forecast by at least as much. Models, scores and the regression ignore censored demand below a forecast, as in the censored quantile
// regression of Powell (1986), whose loss does not depend on a forecast above the censored value. Therefore, the measured coverage is too
// low and quantiles are too high, which errs on the side of too much capacity.
type observedDemand struct {
	// samples are the newest samples, as many as are averaged; NaN for gaps.
	samples []float64
	// known is the newest known demand. It persists over gaps, and is NaN before the first sample.
	known float64
	// sinceCensored is how many samples ago the newest censored one was.
	sinceCensored int
}

func newObservedDemand(c Config) observedDemand {
	averaged := 1
	if c.Rate {
		averaged = max(1, int(rateWindow/c.Step))
	}
	return observedDemand{samples: make([]float64, 0, averaged), known: math.NaN(), sinceCensored: math.MaxInt32}
}

// observe records a sample and returns the demand, NaN for a gap, and whether it is censored.
func (d *observedDemand) observe(sample demand.Sample) (now float64, censored bool) {
	if len(d.samples) == cap(d.samples) {
		d.samples = append(d.samples[:0], d.samples[1:]...)
	}
	d.samples = append(d.samples, sample.Value)
	d.sinceCensored = min(d.sinceCensored+1, math.MaxInt32)
	if sample.Cause.Kind() == demand.Censored {
		d.sinceCensored = 0
	}
	if now = sample.Value; !math.IsNaN(now) {
		now = mean(d.samples)
		d.known = now
	}
	return now, d.sinceCensored < cap(d.samples)
}

// with returns what the observed demand would be after newer samples.
func (d *observedDemand) with(newer []float64) float64 {
	all := slices.Concat(d.samples, newer)
	if m := mean(all[max(0, len(all)-cap(d.samples)):]); !math.IsNaN(m) {
		return m
	}
	return d.known
}

// mean returns the mean of the values without gaps; NaN if all are gaps.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}
