package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// recordLength is how many points of the past are kept to be looked at: a day of five minutes each.
const recordLength = 288

// record keeps the recent past on a coarse grid, for eyes: what was observed, and what was served beside what came.
type record struct {
	step    time.Duration
	stride  int // steps in a point
	means   trailing.Ring[float64]
	sum     float64
	count   int
	last    int64 // index of the newest step
	past    trailing.Ring[served]
	pending trailing.Ring[float64] // values served for the lead windows that are open
	covered trailing.Fading
	window  int // steps
}

// served is a value that was served at a step, and the maximum that came over its window, NaN while it is open.
type served struct {
	index       int64
	value, came float64
}

// newRecord chooses the stride so that the points reach over a history of n steps, or a day where it is longer.
func newRecord(c Config, n, window int) record {
	longest := max(1, int(5*time.Minute/c.Step))
	stride := min(max(1, (n+recordLength-1)/recordLength), longest)
	return record{
		step:    c.Step,
		stride:  stride,
		past:    trailing.NewRing[served](recordLength),
		means:   trailing.NewRing[float64](recordLength),
		pending: trailing.NewRing[float64](window),
		window:  window,
		covered: trailing.NewFading(c.season()),
	}
}

// observe takes the demand at a step.
func (r *record) observe(index int64, now float64) {
	r.last = index
	if !math.IsNaN(now) {
		r.sum += now
		r.count++
	}
	if r.tick(index) {
		r.means.Push(r.sum / float64(r.count)) // NaN where all was gap.
		r.sum, r.count = 0, 0
	}
}

// resolve takes the maximum that came over the lead window that ends at a step, or the least that it was.
func (r *record) resolve(index int64, came float64, atLeast bool) {
	if r.pending.Len() < r.window {
		return
	}
	served := r.pending.Ago(r.window - 1)
	if math.IsNaN(came) || math.IsNaN(served) {
		return
	}
	if came > served || !atLeast {
		within := 0.0
		if came <= served {
			within = 1
		}
		r.covered.Add(within, r.step)
	}
	begun := index - int64(r.window)
	for i := 0; r.past.Knows(i) && r.past.Back(i).index >= begun; i++ {
		if one := r.past.Back(i); one.index == begun {
			one.came = came
		}
	}
}

// serve takes the value served at a step, NaN for none.
func (r *record) serve(index int64, value float64) {
	r.pending.Push(value)
	if !r.tick(index) || math.IsNaN(value) {
		return
	}
	r.past.Push(served{index: index, value: value, came: math.NaN()})
}

func (r *record) tick(index int64) bool { return index%int64(r.stride) == 0 }

func (r *record) time(index int64) time.Time { return time.Unix(0, index*int64(r.step)).UTC() }

// recent is the observed demand, a mean for each point.
func (r *record) recent() forecast.Series {
	n := r.means.Len()
	stride := time.Duration(r.stride) * r.step
	newest := r.last - r.last%int64(r.stride)
	out := forecast.Series{Step: stride, Values: r.means.Newest()}
	out.Start = r.time(newest).Add(-time.Duration(n-1) * stride)
	return out
}

// forecasts are the values served beside what came, oldest first.
func (r *record) forecasts() []snapshot.Past {
	out := make([]snapshot.Past, r.past.Len())
	for i, o := range r.past.Newest() {
		out[i] = snapshot.Past{Time: r.time(o.index), Forecast: o.value, Observed: o.came}
	}
	return out
}
