// Package direct forecasts each horizon by a regression of its own. Its regressors are the distances of the newest
// value from the one before it and from exponential means with short and long memory. A recursive model is fitted to
// one step ahead; these regressions are fitted to the horizon itself (Marcellino, Stock & Watson 2006 compare the two),
// in absolute error, because they are regressions of the median.
package direct

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
	"github.com/forewarm/forewarm/forecast/quantreg"
)

// Direct is a median regression for every one of a few horizons. It knows no season, and adds to the series: for demand
// put it on logarithms, and for the shape of a day into a profile:
//
//	transform.Log{Model: decompose.Profile{Model: direct.Direct{}}}
//
// The zero Direct is usable.
type Direct struct {
	// Horizon is the last step that has a regression of its own, 0 means 15. Those before it that have one are 1, 5,
	// 10, 15, 30, 60 and so on; forecasts of the steps between are interpolated, those beyond are that of the last.
	Horizon int
	// HalfLife is after how many steps an observation counts for half as much in the estimate, 0 means 1440. No more
	// than four of them are used.
	HalfLife float64
	// Penalty is the ridge, as a share of each regressor's moment; 0 means 0.05. It draws the forecast to the last
	// value.
	Penalty float64
}

const (
	defaultHorizon  = 15
	mostHorizon     = 100_000
	defaultHalfLife = 1440
	defaultPenalty  = 0.05
	// lives is how many half-lives of the series are looked at: what is older counts for next to nothing.
	lives = 4
	// mostRows is how many rows a regression is fitted on at most: of more every second or third is taken.
	mostRows = 3000
	// fewestRows are four for each regressor.
	fewestRows = 4 * width
	// passes are enough for a point forecast; epsilon is the change, as a share of the mean one, below which the loss
	// is bent.
	passes  = 6
	epsilon = 0.02
)

var _ forecast.Model = Direct{}

// Name is "Direct" with the half-life where it is not the usual one: "Direct(half-life 360)".
func (m Direct) Name() string {
	if m.HalfLife == 0 || m.HalfLife == defaultHalfLife {
		return "Direct"
	}
	return fmt.Sprintf("Direct(half-life %g)", m.HalfLife)
}

// Fit wants 16 pairs of observations that lie the last horizon apart. Errors: forecast.ErrParameter,
// forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Direct) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.estimate(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return fitted, nil
}

// Fitted is the regressions, and what they look at.
type Fitted struct {
	// horizons have a line each, in the unit of scale.
	horizons []int
	lines    []line
	memory   memory
	scale    float64
	// smallest and largest value seen bound what forecasts may reach: they go as far beyond the two as these are apart.
	smallest, largest float64
	missed            int // gaps at the origin
	next              time.Time
	step              time.Duration
}

func (m Direct) estimate(s forecast.Series) (*Fitted, error) {
	o := Direct{
		Horizon: cmp.Or(m.Horizon, defaultHorizon), HalfLife: cmp.Or(m.HalfLife, defaultHalfLife),
		Penalty: cmp.Or(m.Penalty, defaultPenalty),
	}
	if o.Horizon < 1 || o.Horizon > mostHorizon || !(o.HalfLife > 0) || !(o.Penalty >= 0) {
		return nil, fmt.Errorf("horizon %d, half-life %v, penalty %v; want 1 to %d, more than 0, 0 or more: %w",
			o.Horizon, o.HalfLife, o.Penalty, mostHorizon, forecast.ErrParameter)
	}
	if err := numeric.Check(s, fewestRows); err != nil {
		return nil, err
	}
	f := &Fitted{
		horizons: anchors(o.Horizon), scale: numeric.Scale(s.Values), next: s.End(), step: s.Step,
		smallest: math.Inf(1), largest: math.Inf(-1),
	}
	p := f.observeAll(s.Values, o.reach(s.Len()))
	for _, h := range f.horizons {
		one, err := o.regress(p, h)
		if err != nil {
			return nil, err
		}
		f.lines = append(f.lines, one)
	}
	return f, nil
}

// reach is how many of the newest of n steps are looked at.
func (m Direct) reach(n int) int {
	if reach := lives * m.HalfLife; reach < float64(n) {
		return max(int(reach), 1)
	}
	return n
}

// anchors are the horizons that have a regression.
func anchors(last int) []int {
	var out []int
	for _, h := range []int{1, 5, 10} {
		if h < last {
			out = append(out, h)
		}
	}
	for h := 15; h < last; h *= 2 {
		out = append(out, h)
	}
	return append(out, last)
}

// past is what the newest steps were, and what was known at each of them.
type past struct {
	// values are in the unit of the fit, NaN for a gap; rows are the regressors, width for each.
	values, rows []float64
}

// observeAll takes the observations of a series and keeps its newest steps.
func (f *Fitted) observeAll(values []float64, newest int) past {
	p := past{values: make([]float64, newest), rows: make([]float64, newest*width)}
	from := len(values) - newest
	for i, y := range values {
		f.observe(y)
		switch at := i - from; {
		case at < 0:
		case math.IsNaN(y):
			p.values[at] = math.NaN()
		default:
			p.values[at] = f.memory.last
			f.memory.rowTo(p.rows[at*width : (at+1)*width])
		}
	}
	return p
}

// line is the regression of a horizon: the change until then, by the regressors.
type line struct {
	weights [width]float64
	// deviation is that of its errors.
	deviation float64
}

func (l *line) at(row []float64) float64 {
	sum := 0.0
	for i, w := range l.weights {
		sum += w * row[i]
	}
	return sum
}

// regress fits the changes h steps ahead.
func (m Direct) regress(p past, h int) (line, error) {
	rows := m.rows(p, h)
	if len(rows.Y) < fewestRows {
		return line{}, fmt.Errorf("%d pairs of observations %d steps apart, want %d: %w",
			len(rows.Y), h, fewestRows, forecast.ErrTooShort)
	}
	mean := 0.0
	for _, change := range rows.Y {
		mean += math.Abs(change) / float64(len(rows.Y))
	}
	c, err := quantreg.Regression{Level: 0.5, Penalty: m.Penalty, Passes: passes, Epsilon: epsilon * mean}.Fit(rows)
	if err != nil {
		return line{}, err
	}
	out := line{weights: [width]float64(c)}
	squares, total := 0.0, 0.0
	for i, change := range rows.Y {
		e := change - out.at(rows.X[i*width:(i+1)*width])
		squares += rows.Weights[i] * e * e
		total += rows.Weights[i]
	}
	out.deviation = math.Sqrt(squares / total)
	return out, nil
}

// rows are the regressors of origins, the changes until h steps later and how much each counts, newest first.
func (m Direct) rows(p past, h int) quantreg.Rows {
	n := len(p.values)
	var rows quantreg.Rows
	for i := n - 1 - h; i >= 0; i -= 1 + n/mostRows {
		change := p.values[i+h] - p.values[i]
		if math.IsNaN(change) {
			continue
		}
		rows.X = append(rows.X, p.rows[i*width:(i+1)*width]...)
		rows.Y = append(rows.Y, change)
		rows.Weights = append(rows.Weights, math.Exp2(-float64(n-1-i)/m.HalfLife))
	}
	return rows
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing: the forecast stays,
// and its standard errors are those of more steps.
func (f *Fitted) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *Fitted) observe(y float64) {
	if !numeric.Observed(y) {
		f.missed++
		return
	}
	f.missed = 0
	z := min(max(y/f.scale, -numeric.Limit), numeric.Limit) // The scale may be as small as 1e-307.
	f.smallest, f.largest = math.Min(f.smallest, z), math.Max(f.largest, z)
	f.memory.observe(z)
}

// PointsTo writes the point forecasts of the coming len(dst) steps to dst.
func (f *Fitted) PointsTo(dst []float64) {
	var row [width]float64
	f.memory.rowTo(row[:])
	room := f.largest - f.smallest
	low, high := f.smallest-room, f.largest+room
	before, from := 0.0, 0 // the change until the horizon before, and that horizon
	for j, h := range f.horizons {
		change := f.lines[j].at(row[:])
		for i := from; i < min(h, len(dst)); i++ {
			share := float64(i+1-from) / float64(h-from)
			z := f.memory.last + before + share*(change-before)
			dst[i] = f.scale * min(max(z, low), high)
		}
		before, from = change, h
	}
	for i := from; i < len(dst); i++ {
		dst[i] = dst[from-1]
	}
}

// Forecast is the forecast of the coming h steps.
func (f *Fitted) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.scale * f.deviation(i+1+f.missed)
	}
	return out
}

// deviation of the errors h steps ahead: between two horizons its square is interpolated, beyond the last it grows as that
// of a random walk.
func (f *Fitted) deviation(h int) float64 {
	before, from := 0.0, 0
	for j, horizon := range f.horizons {
		variance := f.lines[j].deviation * f.lines[j].deviation
		if h <= horizon {
			return math.Sqrt(before + float64(h-from)/float64(horizon-from)*(variance-before))
		}
		before, from = variance, horizon
	}
	return math.Sqrt(before * float64(h) / float64(from))
}

// memory is what the regressions look at: the newest two observations, and means of the past that forget at different
// speeds, in the unit of the fit.
type memory struct {
	last, previous float64
	means          [3]mean
}

// width is the number of regressors: one for each mean, and one for the previous observation.
const width = len(memory{}.means) + 1

// The half-lives of the means, in steps, are 2, 10 and 60: enough to tell a jump that stays from noise about a level. More
// of them, running medians and maxima, the volatility and yesterday's change were tried, and none lowered the errors on
// most traces.
const (
	keepShort  = 1 / math.Sqrt2
	keepMiddle = 0.93303299153680741 // 2^(−1/10)
	keepLong   = 0.98851402035289614 // 2^(−1/60)
)

// mean is an exponentially weighted mean of what came, from the first observation on.
type mean struct {
	sum, weight float64
}

func (m *mean) add(z, keep float64) {
	m.sum = keep*m.sum + (1-keep)*z
	m.weight = keep*m.weight + (1 - keep)
}

// observe takes the coming observation.
func (m *memory) observe(z float64) {
	if m.means[0].weight == 0 {
		m.last = z // The first one has none before it.
	}
	m.previous, m.last = m.last, z
	m.means[0].add(z, keepShort)
	m.means[1].add(z, keepMiddle)
	m.means[2].add(z, keepLong)
}

// rowTo writes the regressors. They are all differences: coefficients of 0, which the ridge draws to, are the forecast of
// the last value, and a series that is shifted or scaled has its forecasts shifted and scaled.
func (m *memory) rowTo(row []float64) {
	row[0] = m.previous - m.last
	before := m.last
	for i, e := range m.means {
		value := e.sum / e.weight
		row[i+1] = value - before
		before = value
	}
}
