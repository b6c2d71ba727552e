package forecaster

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// recordLength is the number of points of the past that are kept: a day of 5-minute points.
const recordLength = 288

// record keeps the recent past on a coarse grid, for display: the observed demand, and served values with actual window peaks.
type record struct {
	step   time.Duration
	demand series.Means
	hours  series.Means
	// past are the values that were served at the ends of the means, with the actual peaks of their windows; NaN while the windows are
	// open. If published is true, past is replaced and not changed, because a snapshot shares it.
	past      []snapshot.ScoredForecast
	published bool
	window    int // steps
	// peaks are the highest values that were served in each servedPeakOver; nil if they are not kept.
	peaks *series.Maxima
}

const (
	// servedPeakOver is the grid of the served peaks, unless the step is longer.
	servedPeakOver = 5 * time.Minute
	// servedPeaksFor is how long served peaks are kept: what a fleet uses, and some hours more.
	servedPeaksFor = fleet.HistoryLength + 3*time.Hour
)

// newRecord returns an empty record. It chooses the stride so that the points cover a history of n steps, but at most a day.
func newRecord(c Config, n, window int) record {
	longest := max(1, int(5*time.Minute/c.Step))
	stride := min(max(1, (n+recordLength-1)/recordLength), longest)
	out := record{
		step: c.Step, demand: series.NewMeans(stride, recordLength),
		hours:  series.NewMeans(c.stepsIn(time.Hour), maxHours),
		window: window,
	}
	if c.KeepServedPeaks {
		steps := max(1, int(servedPeakOver/c.Step))
		peaks := series.NewMaxima(steps, int(servedPeaksFor/(time.Duration(steps)*c.Step)))
		out.peaks = &peaks
	}
	return out
}

// observe records the demand at a step, and the demand that the models learn.
func (r *record) observe(index int64, now, learnt float64) {
	r.demand.Observe(index, now)
	r.hours.Observe(index, learnt)
}

// resolve records the actual peak of the lead window that ends at a step. It is a lower bound if the demand was censored.
func (r *record) resolve(index int64, actual float64) {
	if math.IsNaN(actual) {
		return
	}
	begun := r.time(index - int64(r.window)).Unix()
	for i := len(r.past) - 1; i >= 0 && r.past[i].At >= begun; i-- {
		if r.past[i].At == begun {
			r.ownPast()
			r.past[i].Actual = actual
		}
	}
}

// serve records the value that is served at a step; NaN if there is none.
func (r *record) serve(index int64, value float64) {
	if r.peaks != nil {
		r.peaks.Observe(index, value)
	}
	if !r.demand.Ends(index) || math.IsNaN(value) {
		return
	}
	r.ownPast()
	if len(r.past) == recordLength {
		r.past = slices.Delete(r.past, 0, 1)
	}
	r.past = append(r.past, snapshot.ScoredForecast{At: r.time(index).Unix(), Forecast: value, Actual: math.NaN()})
}

// ownPast makes sure that past may be changed: it copies a published past.
func (r *record) ownPast() {
	if r.published {
		r.past, r.published = slices.Clone(r.past), false
	}
}

func (r *record) time(index int64) time.Time { return time.Unix(0, index*int64(r.step)).UTC() }

// forecasts returns the served values with the actual window peaks, oldest first. The result never changes.
func (r *record) forecasts() []snapshot.ScoredForecast {
	r.published = true
	return r.past
}
