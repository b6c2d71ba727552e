package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// known returns what is known in advance about the demand of the window with an index, which starts with the newest step.
func (f *Forecaster) known(window int) adjust.Effect {
	return f.ahead(time.Duration(f.peaks.Windows[window]) * f.config.Step)
}

// ahead returns what is known in advance about the demand from the newest step until a duration after it. It includes a sudden low that is
// followed.
func (f *Forecaster) ahead(d time.Duration) adjust.Effect {
	end := f.End()
	known := f.adjust.Over(end.Add(-f.config.Step), end.Add(d))
	if f.fall.steps > 0 {
		known.Times *= f.fall.share
	}
	return known
}

// eventsAhead describes the events in the lead window; empty if there are none.
func (f *Forecaster) eventsAhead() string {
	return humanize.List(f.adjust.Words(f.End(), f.End().Add(f.config.Window)))
}

// minimum returns the value of the replicas that events ask for until a duration after the newest step, including steps that are held back.
func (f *Forecaster) minimum(d time.Duration) float64 {
	end := f.ReadUntil()
	return decide.ValueOf(f.config.Autoscalers, f.adjust.Over(end.Add(-f.config.Step), end.Add(d)).Replicas)
}

// Minimum returns the value of the replicas that events ask for within the lead window; 0 if there are none, or if no autoscaler is known.
func (f *Forecaster) Minimum() float64 {
	return f.minimum(time.Duration(f.config.stepsIn(f.config.Window)) * f.config.Step)
}

// peak returns a candidate's forecast of the window peak, adjusted by what is known in advance about the window.
func (f *Forecaster) peak(c *windowpeak.Candidate) (peak windowpeak.Peak, forecast bool) {
	peak, forecast = c.Peak()
	known := f.known(f.peaks.LeadWindow)
	peak.Median, peak.Spread = known.On(peak.Median), peak.Spread*known.Times
	return peak, forecast
}

// quantiles returns a candidate's adjusted quantiles of the lead window.
func (f *Forecaster) quantiles(c *windowpeak.Candidate) windowpeak.Quantiles {
	return onQuantiles(f.known(f.peaks.LeadWindow), c.Quantiles(f.bound))
}

// onStep adjusts a step of a path by what is known in advance about its time.
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

// windows returns a candidate's adjusted quantiles over all calibrated windows. They are at least the Minimum of the window.
func (f *Forecaster) windows(c *windowpeak.Candidate) []windowpeak.Window {
	out := c.Windows(f.config.Step, f.bound)
	for i := range out {
		out[i].Quantiles = onQuantiles(f.ahead(out[i].Horizon), out[i].Quantiles)
		minimum := f.minimum(out[i].Horizon)
		for j := range out[i].Quantiles {
			out[i].Quantiles[j] = max(out[i].Quantiles[j], minimum)
		}
	}
	return out
}

// actualPeak returns the highest demand in the lead window that ends with the newest step, including the demand of announced events. It is
// a lower bound if the demand was censored.
func (f *Forecaster) actualPeak() float64 {
	peak := f.peaks.ActualPeak()
	if len(f.adjust) > 0 && !math.IsNaN(peak) {
		peak = math.Max(peak, series.MaxKnown(f.recent.Values()...))
	}
	return peak
}

// announced returns a reading with what is known in advance about its time.
func (f *Forecaster) announced(r demand.Reading, at time.Time) demand.Reading {
	if len(f.adjust) > 0 {
		known := f.adjust.Over(at, at.Add(f.config.Step))
		r.Times, r.AtLeast = known.Times, known.AtLeast
	}
	return r
}
