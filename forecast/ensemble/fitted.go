package ensemble

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Fitted is an ensemble at its origin: members, weights and calibration.
type Fitted struct {
	name    string
	members []*member
	horizon int
	anchors []int
	anchor  []int // of each step up to the horizon

	// losses, weights and pending are of every anchor; pending holds the members' points of the open origins.
	losses  [][]record
	weights [][]float64
	pending [][]float32
	keep    float64
	origins int // origins looked from

	scales scales
	values []target
	maxima []target
	past   []float64 // the newest values, a horizon's, a ring
	at     int

	path []float64 // the ensemble's, up to the horizon
	// signed says that the series has been below 0; where it has not, no forecast goes there.
	signed bool
	next   time.Time
	step   time.Duration
}

const (
	ringSize     = 480
	lossHalfLife = 400
)

func newFitted(m Auto, s forecast.Series, plan []candidate) *Fitted {
	f := &Fitted{
		name: m.Name(), horizon: m.Horizon, anchors: anchors(m.Horizon), scales: newScales(),
		keep: math.Exp2(-1.0 / lossHalfLife),
		past: make([]float64, max(m.Horizon, maxReach)), path: make([]float64, m.Horizon), next: s.Start, step: s.Step,
	}
	f.anchor = anchorOf(f.anchors)
	for i := range f.past {
		f.past[i] = math.NaN()
	}
	for _, c := range plan {
		f.members = append(f.members, &member{candidate: c, path: make([]float64, m.Horizon)})
	}
	every := max(1, m.holdOut(s.Len())/ringSize)
	for _, h := range f.anchors {
		f.losses = append(f.losses, make([]record, len(plan)))
		weights := make([]float64, len(plan))
		weights[0] = 1
		f.weights = append(f.weights, weights)
		f.pending = append(f.pending, make([]float32, h*len(plan)))
		f.values = append(f.values, newTarget(h, m.Quantiles, ringSize, every, f.keep))
		f.maxima = append(f.maxima, newTarget(h, m.Quantiles, ringSize, every, f.keep))
	}
	return f
}

// watch takes values into the scales alone.
func (f *Fitted) watch(values []float64) {
	for _, y := range values {
		f.observe(y)
	}
}

// fit fits the members on a series that ends at the origin.
func (f *Fitted) fit(s forecast.Series) {
	for _, m := range f.members {
		m.fit(s)
		m.look()
	}
	f.look()
}

// Update moves the origin one step on: forecasts that are due are scored, the members take the observation, and the
// ensemble looks ahead anew. A value that is not finite, or beyond 1e150, counts as missing.
func (f *Fitted) Update(y float64) {
	if !units.Observed(y) {
		y = math.NaN()
	}
	f.observe(y)
	f.resolve(y)
	for _, m := range f.members {
		m.advance(y)
		m.look()
	}
	f.look()
	f.file()
}

func (f *Fitted) observe(y float64) {
	f.next = f.next.Add(f.step)
	f.past[f.at] = y
	f.at++
	if f.at == len(f.past) {
		f.at = 0
	}
	if math.IsNaN(y) {
		return
	}
	f.signed = f.signed || y < 0
	f.scales.observe(y)
}

// ago is the value observed n steps before the newest.
func (f *Fitted) ago(n int) float64 {
	i := f.at - 1 - n
	if i < 0 {
		i += len(f.past)
	}
	return f.past[i]
}

// resolve scores what was forecast for the step that has come.
func (f *Fitted) resolve(y float64) {
	highest, n := math.Inf(-1), 0
	for j, h := range f.anchors {
		for ; n < h; n++ {
			highest = math.Max(highest, f.ago(n)) // NaN where a gap is among them: the maximum is not known.
		}
		f.values[j].resolve(y)
		f.maxima[j].resolve(highest)
		f.score(j, h, y)
	}
}

// score records the members' errors at anchor j, h steps ahead, and moves their weights.
func (f *Fitted) score(j, h int, y float64) {
	if f.origins < h || math.IsNaN(y) {
		return
	}
	width := len(f.members)
	slot := f.origins % h
	issued := f.pending[j][slot*width : (slot+1)*width]
	for i, point := range issued {
		if e := math.Abs(y - float64(point)); !math.IsNaN(e) {
			f.losses[j][i].add(e, f.keep)
		}
	}
	weigh(f.weights[j], f.losses[j])
}

// look brings the members' forecasts together: the ensemble's path, and the centres of what is calibrated.
func (f *Fitted) look() {
	for i := range f.path {
		f.path[i] = f.combine(i)
	}
	highest, point, n := f.highest(), math.Inf(-1), 0
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
	width := len(f.members)
	for j, h := range f.anchors {
		f.values[j].file()
		f.maxima[j].file()
		slot := f.origins % h
		for i, m := range f.members {
			f.pending[j][slot*width+i] = float32(m.path[h-1])
		}
	}
	f.origins++
}

// combine is the ensemble's point forecast of step i.
func (f *Fitted) combine(i int) float64 {
	sum, total := 0.0, 0.0
	for k, w := range f.weights[f.anchor[i]] {
		if v := f.members[k].path[i]; w > 0 && !math.IsNaN(v) {
			sum += w * v
			total += w
		}
	}
	if total == 0 {
		return f.scales.last
	}
	return f.floor(sum / total)
}

// floor keeps a forecast from going where the series never was.
func (f *Fitted) floor(v float64) float64 {
	if f.signed {
		return v
	}
	return math.Max(v, 0)
}

var maxReach = 15

// highest is the running maximum.
func (f *Fitted) highest() float64 {
	highest := math.Inf(-1)
	for n := range maxReach {
		if v := f.ago(n); v > highest {
			highest = v
		}
	}
	if math.IsInf(highest, -1) {
		return f.scales.last
	}
	return highest
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	n := copy(dst, f.path)
	for i := n; i < len(dst); i++ {
		dst[i] = f.path[n-1]
	}
}

// QuantileTo writes the p-quantile of each of the coming len(dst) steps to dst.
func (f *Fitted) QuantileTo(dst []float64, p float64) {
	for i := range dst {
		dst[i] = f.quantile(i, p)
	}
}

func (f *Fitted) quantile(i int, p float64) float64 {
	i = min(i, f.horizon-1)
	j := f.anchor[i]
	t := &f.values[j]
	if !t.calibrated() {
		return f.path[i]
	}
	return f.floor(f.path[i] + t.quantile(p) - f.path[f.anchors[j]-1])
}

// MaxQuantile is the p-quantile of the highest value of the coming h steps.
func (f *Fitted) MaxQuantile(h int, p float64) float64 {
	h = min(max(h, 1), f.horizon)
	return f.floor(f.maxima[f.anchor[h-1]].quantile(p))
}

// Forecast is the forecast of the coming h steps.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	out.Marginals = marginals{f}
	for i := range out.StdErr {
		out.StdErr[i] = (f.quantile(i, 0.84) - f.quantile(i, 0.16)) / 2
	}
	return out
}

type marginals struct{ f *Fitted }

func (m marginals) Quantile(i int, p float64) float64 { return m.f.quantile(i, p) }

// Dump is scratch.
func (f *Fitted) Dump(j int) string {
	out := ""
	for i, m := range f.members {
		out += fmt.Sprintf("  %-45s w %.2f loss %.4g err %v\n", m.model.Name(), f.weights[j][i], f.losses[j][i].mean(), m.err)
	}
	for i := range f.values[j].gauges {
		out += fmt.Sprintf("  gauge %d: share %.2f loss %.4g | max share %.2f\n", i, f.values[j].shares[i], f.values[j].losses[i].mean(), f.maxima[j].shares[i])
	}
	return out
}

// Tune is scratch.
func Tune(name string, v float64) {
	switch name {
	case "mask":
		mask = int(v)
	case "power":
		power = v
	case "far":
		tooFar = v
	case "log":
		logShare = v
	}
}
