package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// known is what is known of the window with an index, the newest step included.
func (f *Forecaster) known(window int) adjust.Effect {
	return f.ahead(time.Duration(f.peaks.Windows[window]) * f.config.Step)
}

// ahead is what is known of the demand from the newest step until so long after it, a fall that is followed included.
func (f *Forecaster) ahead(d time.Duration) adjust.Effect {
	end := f.End()
	known := f.adjust.Over(end.Add(-f.config.Step), end.Add(d))
	if f.fall.steps > 0 {
		known.Times *= f.fall.share
	}
	return known
}

// peak is a candidate's forecast of the window peak, with what is known of the window.
func (f *Forecaster) peak(c *windowpeak.Candidate) (peak windowpeak.Peak, forecast bool) {
	peak, forecast = c.Peak()
	known := f.known(f.peaks.LeadWindow)
	peak.Median, peak.Spread = known.On(peak.Median), peak.Spread*known.Times
	return peak, forecast
}

// quantiles are a candidate's of the lead window.
func (f *Forecaster) quantiles(c *windowpeak.Candidate) windowpeak.Quantiles {
	return onQuantiles(f.known(f.peaks.LeadWindow), c.Quantiles(f.bound))
}

// onStep puts what is known of its time into a step.
func onStep(known adjust.Effect, step *snapshot.PathStep) {
	step.Point = known.On(step.Point)
	for i := range step.Quantiles {
		step.Quantiles[i] = known.On(step.Quantiles[i])
	}
}

func onQuantiles(known adjust.Effect, q windowpeak.Quantiles) windowpeak.Quantiles {
	for i := range q {
		q[i] = known.On(q[i])
	}
	return q
}

// windows are a candidate's quantiles over all calibrated windows.
func (f *Forecaster) windows(c *windowpeak.Candidate) []windowpeak.Window {
	out := c.Windows(f.config.Step, f.bound)
	for i := range out {
		out[i].Quantiles = onQuantiles(f.ahead(out[i].Horizon), out[i].Quantiles)
	}
	return out
}

// actualPeak is the highest demand in the lead window that ends with the newest step, including what events announced, or a lower
// bound of it if the demand was censored.
func (f *Forecaster) actualPeak() float64 {
	peak := f.peaks.ActualPeak()
	if len(f.adjust) > 0 && !math.IsNaN(peak) {
		peak = math.Max(peak, series.MaxKnown(f.recent.Values()...))
	}
	return peak
}

// announced is a reading with what is known of it.
func (f *Forecaster) announced(r demand.Reading, at time.Time) demand.Reading {
	if len(f.adjust) > 0 {
		known := f.adjust.Over(at, at.Add(f.config.Step))
		r.Times, r.AtLeast = known.Times, known.AtLeast
	}
	return r
}
