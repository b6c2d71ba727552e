package ensemble

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Fitted is an ensemble at its origin: members, weights and calibration.
type Fitted struct {
	members []*member
	dropped []string // names of the candidates that the budget left out
	horizon int
	// anchors are the horizons that are scored; anchor says for each step up to the horizon which of them it goes with.
	anchors, anchor []int

	// losses, weights and pending are of every anchor; pending holds the members' points of the open origins.
	losses  [][]record
	weights [][]float64
	pending [][]float64
	judged  []record // scratch
	// corrections are of every anchor.
	corrections []correction
	keep        float64
	origins     int // origins filed so far

	scales scales
	// values are the values at the anchors, maxima the maxima up to them.
	values, maxima []target
	past           []float64 // the newest observations, a ring
	at             int       // where the coming one goes

	path []float64 // the ensemble's, up to the horizon
	long []float64 // scratch beyond it
	// analytic are the standard errors by the members' own account, when they were fitted.
	analytic []float64
	// signed says that the series has been below 0; where it has not, no forecast goes there.
	signed bool
	// largest is the largest magnitude seen.
	largest float64
	next    time.Time
	step    time.Duration
}

const (
	// ringSize errors are kept for each quantity, gauge and anchor: of a day of minutes every third.
	ringSize = 480
	// lossHalfLife is that of the trailing losses in steps: long enough to tell members apart, short enough to drop one
	// within the hours after its series changed.
	lossHalfLife = 180
	// maxReach is how many of the newest values the recent maximum is taken over.
	maxReach = 15
)

func newFitted(m Auto, s forecast.Series, taken, dropped []candidate) *Fitted {
	f := &Fitted{
		horizon: m.Horizon,
		anchors: anchors(m.Horizons, m.Horizon),
		scales:  newScales(),
		keep:    math.Exp2(-1.0 / lossHalfLife),
		past:    slices.Repeat([]float64{math.NaN()}, max(m.Horizon, maxReach)),
		path:    make([]float64, m.Horizon),
		judged:  make([]record, len(taken)),
		next:    s.Start,
		step:    s.Step,
	}
	f.anchor = anchorOf(f.anchors)
	for _, c := range dropped {
		f.dropped = append(f.dropped, c.name())
	}
	for _, c := range taken {
		f.members = append(f.members, &member{candidate: c, path: make([]float64, m.Horizon)})
	}
	every := max(1, m.holdOut(s.Len())/ringSize)
	for _, h := range f.anchors {
		weights := make([]float64, len(taken))
		weights[0] = 1
		f.losses = append(f.losses, make([]record, len(taken)))
		f.weights = append(f.weights, weights)
		f.pending = append(f.pending, make([]float64, h*len(taken)))
		f.corrections = append(f.corrections, newCorrection(h, len(taken)))
		f.values = append(f.values, newTarget(h, m.Quantiles, ringSize, every, f.keep))
		f.maxima = append(f.maxima, newTarget(h, m.Quantiles, ringSize, every, f.keep))
	}
	return f
}

// fit fits the members on a series that ends at the origin.
func (f *Fitted) fit(s forecast.Series) {
	for _, m := range f.members {
		m.fit(s)
		m.look()
	}
	f.look()
	f.analytic = f.deviations(f.horizon)
}

// Update moves the origin one step on: forecasts that are due are scored, the members take the observation, and the
// ensemble looks ahead anew. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	f.observe(y)
	f.resolve()
	for _, m := range f.members {
		m.advance(y)
		m.look()
	}
	f.look()
	f.file()
}

func (f *Fitted) observe(y float64) {
	f.next = f.next.Add(f.step)
	if !units.Observed(y) {
		y = math.NaN()
	} else {
		f.signed = f.signed || y < 0
		f.largest = max(f.largest, math.Abs(y))
		f.scales.observe(y)
	}
	f.past[f.at] = y
	f.at++
	if f.at == len(f.past) {
		f.at = 0
	}
}

// ago is the value observed n steps before the newest, NaN for a gap.
func (f *Fitted) ago(n int) float64 {
	i := f.at - 1 - n
	if i < 0 {
		i += len(f.past)
	}
	return f.past[i]
}

// resolve scores what was forecast for the step that has come.
func (f *Fitted) resolve() {
	y, highest, n := f.ago(0), math.Inf(-1), 0
	for j, h := range f.anchors {
		for ; n < h; n++ {
			highest = math.Max(highest, f.ago(n)) // NaN where a gap is among them: the maximum is not known.
		}
		f.values[j].resolve(y)
		f.maxima[j].resolve(highest)
		f.score(j, y)
	}
	if !math.IsNaN(y) {
		f.weigh()
	}
}

// score records the members' errors at anchor j.
func (f *Fitted) score(j int, y float64) {
	if f.origins < f.anchors[j] || math.IsNaN(y) {
		return
	}
	f.corrections[j].learn(y, f.issued(j))
	for i, point := range f.issued(j) {
		if e := math.Abs(y - point); !math.IsNaN(e) {
			f.losses[j][i].add(e, f.keep)
		}
	}
}

// weigh moves the weights. A member is judged at an anchor and at the two beside it: where the anchor is a whole number
// of seasons ahead, the last value would else seem to suit the steps before it, too.
func (f *Fitted) weigh() {
	for j := range f.anchors {
		near := f.losses[max(j-1, 0):min(j+2, len(f.anchors))]
		for k := range f.members {
			f.judged[k] = record{}
			for _, losses := range near {
				f.judged[k].sum += losses[k].sum / float64(len(near))
				f.judged[k].weight += losses[k].weight / float64(len(near))
			}
		}
		weigh(f.weights[j], f.judged, f.anchors[j], sharpestMember)
	}
}

// issued are the members' points of the oldest origin that is open at anchor j; the coming origin's replace them.
func (f *Fitted) issued(j int) []float64 {
	width := len(f.members)
	slot := f.origins % f.anchors[j]
	return f.pending[j][slot*width : (slot+1)*width]
}

// look brings the members' forecasts together: the ensemble's path, and the centres of what is calibrated.
func (f *Fitted) look() {
	for i := range f.path {
		f.path[i] = f.combined(i)
	}
	highest, point, n := f.recentMax(), math.Inf(-1), 0
	for j, h := range f.anchors {
		for ; n < h; n++ {
			point = math.Max(point, f.path[n])
		}
		f.values[j].aim(&f.scales, f.path[h-1], highest)
		f.maxima[j].aim(&f.scales, point, highest)
	}
}

// file keeps the forecasts of this origin until the truth is known.
func (f *Fitted) file() {
	for j, h := range f.anchors {
		f.values[j].file()
		f.maxima[j].file()
		f.corrections[j].file(f.blended(h - 1))
		open := f.issued(j)
		for i, m := range f.members {
			open[i] = m.path[h-1]
		}
	}
	f.origins++
}
