package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// The quantiles that are fitted, and how rows are kept.
const (
	medianLevel = 0.5
	upperLevel  = 0.95
	// leastTail is the smallest spread, as a share of the level, if the two quantiles meet.
	leastTail = 0.005
	// sampleEvery is how far rows are apart, so that they differ; they are kept for rowMemory.
	sampleEvery = 6 * time.Minute
	rowMemory   = 7 * 24 * time.Hour
	// priorRows is the weight of the prior in rows.
	priorRows = 167
	minRows   = 60
	// epsilon is the residual, as a share of the level, below which the loss is smoothed: with less the tail jumps.
	epsilon = 3e-3
	passes  = 2
)

// PooledRegression forecasts the median of the window peak and the distance to its 95 % quantile, by linear quantile regression
// on the features, with a prior that pools other workloads.
type PooledRegression struct {
	features *Features
	prior    Prior
	pending  pending
	rows     rows
	steps    int
	every    int
	middle   quantreg.Coefficients
	tail     quantreg.Coefficients
}

// NewPooledRegression starts from the prior.
func NewPooledRegression(c Config, prior Prior) *PooledRegression {
	f := NewFeatures(c)
	every := c.steps(sampleEvery)
	return &PooledRegression{
		features: f, prior: prior.For(f.Names()), every: every,
		pending: newPending(f.window/every+2, len(f.row)),
		rows:    newRows(int(rowMemory/(time.Duration(every)*c.Step)), len(f.row)),
	}
}

// Push records the demand of a step, NaN for a gap, and the models' forecasts (see Features.Push).
func (l *PooledRegression) Push(demand float64, models []float64) {
	l.features.Push(demand, models)
	l.step(demand)
}

// PushCensored records a lower bound of the demand of a step, as a saturated service has it.
func (l *PooledRegression) PushCensored(atLeast float64, models []float64) {
	l.features.PushCensored(atLeast, models)
	l.step(atLeast)
}

func (l *PooledRegression) step(demand float64) {
	if row, ok := l.pending.due(l.steps); ok {
		if actual := l.features.ActualPeak(); l.evidence(row, actual) {
			l.rows.add(row, actual, l.features.Level())
		}
	}
	if l.steps%l.every == 0 && !math.IsNaN(demand) {
		l.pending.add(l.steps+l.features.window, l.features.Row())
	}
	l.steps++
}

// evidence reports whether an actual peak is evidence. A lower bound is, if it is above both quantiles: the loss of a censored
// quantile regression does not depend on a forecast above the censored value (Powell 1986).
func (l *PooledRegression) evidence(row []float64, actual float64) bool {
	if math.IsNaN(actual) || l.features.Exact() {
		return !math.IsNaN(actual)
	}
	middle, tail := l.coefficients()
	return actual > math.Max(middle.At(row), tail.At(row))
}

// Peak is the forecast of the window ahead of the newest step.
func (l *PooledRegression) Peak() Peak {
	row, level := l.features.Row(), l.features.Level()
	middle, tail := l.coefficients()
	w := Peak{Median: math.Max(middle.At(row), 0)}
	w.Spread = math.Max(math.Max(tail.At(row), 0)-w.Median, leastTail*level)
	return w
}

// Features are those of the newest step.
func (l *PooledRegression) Features() *Features { return l.features }

// Rows is how many windows the regression is fitted to.
func (l *PooledRegression) Rows() int { return l.rows.n }

func (l *PooledRegression) coefficients() (middle, tail quantreg.Coefficients) {
	if l.middle == nil {
		return l.prior.Median.Mean, l.prior.Upper.Mean
	}
	return l.middle, l.tail
}

// refitRegression is how often a refit is worth its CPU time.
const refitRegression = 12 * time.Hour

// Fit refits both quantiles, in some milliseconds. A failed fit keeps the previous one.
func (l *PooledRegression) Fit() {
	if l.rows.n < minRows {
		return
	}
	data, ok := l.rows.scaled()
	if !ok {
		return
	}
	middle, tail := l.coefficients()
	m, err := newRegression(medianLevel, middle, l.prior.Median).Fit(data)
	if err != nil {
		return
	}
	t, err := newRegression(upperLevel, tail, l.prior.Upper).Fit(data)
	if err != nil {
		return
	}
	l.middle, l.tail = m, t
}

func newRegression(level float64, start quantreg.Coefficients, prior quantreg.Prior) quantreg.Regression {
	return quantreg.Regression{
		Level: level, Epsilon: epsilon, Passes: passes, Start: start, Prior: prior.Times(priorRows),
	}
}
