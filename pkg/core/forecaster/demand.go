package forecaster

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/classify"
)

// demand is what was observed: the mean of the newest samples, and how long ago it was a lower bound.
//
// What is a lower bound is observed and served as it is. It is evidence only where it is above what was forecast: then the
// demand was, too, by at least as much. Where it is below, it says nothing, and a model, a score and a regression leave it
// out. That is the censored quantile regression of Powell (1986), whose loss does not depend on a forecast above the
// censored value. Where saturation hides the truth about high forecasts only, the rest of the evidence weighs more:
// coverage is told too low and quantiles are too high, which errs on the side of capacity.
type demand struct {
	// samples are the newest, as many as are averaged; NaN for those that are not known.
	samples []float64
	// known is the newest demand that is known; it holds on over gaps. NaN before the first.
	known float64
	// bounded is how many samples ago the newest lower bound was.
	bounded int
}

func newDemand(c Config) demand {
	return demand{samples: make([]float64, 0, c.average()), known: math.NaN(), bounded: math.MaxInt32}
}

// observe takes a sample and gives the demand, NaN for a gap, and whether it is a lower bound.
func (d *demand) observe(sample classify.Sample) (now float64, atLeast bool) {
	if len(d.samples) == cap(d.samples) {
		d.samples = append(d.samples[:0], d.samples[1:]...)
	}
	d.samples = append(d.samples, sample.Value)
	d.bounded = min(d.bounded+1, math.MaxInt32)
	if sample.Kind() == classify.LowerBound {
		d.bounded = 0
	}
	if math.IsNaN(sample.Value) {
		return sample.Value, d.bounded < cap(d.samples)
	}
	d.known = mean(d.samples)
	return d.known, d.bounded < cap(d.samples)
}

// with is what the demand would be with newer samples.
func (d *demand) with(newer []float64) float64 {
	all := append(append([]float64(nil), d.samples...), newer...)
	if m := mean(all[max(0, len(all)-cap(d.samples)):]); !math.IsNaN(m) {
		return m
	}
	return d.known
}

// mean is that of the values that are not gaps; NaN where all are.
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
