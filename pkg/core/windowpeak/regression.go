package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// The parameters of the fits, and of the rows that are kept.
const (
	medianLevel = 0.5
	upperLevel  = 0.95
	// minTail is the smallest spread, as a share of the level. It matters if the two quantiles are almost equal.
	minTail = 0.005
	// sampleEvery is the time between two rows, so that they differ. Rows are kept for rowMemory.
	sampleEvery = 6 * time.Minute
	rowMemory   = 7 * 24 * time.Hour
	// priorRows is the weight of the prior, in rows.
	priorRows = 167
	minRows   = 60
	// epsilon is the residual below which the loss is smoothed, as a share of the level. With a smaller one, the upper quantile jumps
	// between fits.
	epsilon = 3e-3
	passes  = 2
)

// pooledRegression forecasts the median of the window peak and the distance to its 95 % quantile, by linear quantile regression
// on the features, with a prior that pools other workloads.
type pooledRegression struct {
	features *features
	prior    Prior
	pending  pending
	rows     rows
	room     quantreg.Rows // the buffer for the scaled rows
	steps    int
	every    int
	middle   quantreg.Coefficients
	tail     quantreg.Coefficients
}

// newPooledRegression returns a regression that starts from the prior.
func newPooledRegression(c Config, prior Prior) *pooledRegression {
	f := newFeatures(c)
	every := c.steps(sampleEvery)
	return &pooledRegression{
		features: f, prior: prior.forColumns(f.names()), every: every,
		pending: newPending(f.window/every+2, len(f.row)),
		rows:    newRows(int(rowMemory/(time.Duration(every)*c.Step)), len(f.row)),
	}
}

// observe records the demand of a step, NaN for a gap, and the models' forecasts (see features.observe).
func (l *pooledRegression) observe(demand float64, models []float64) {
	l.features.observe(demand, models)
	l.step(demand)
}

// observeCensored records a lower bound of the demand of a step, such as the observed demand of a saturated service.
func (l *pooledRegression) observeCensored(atLeast float64, models []float64) {
	l.features.observeCensored(atLeast, models)
	l.step(atLeast)
}

func (l *pooledRegression) step(demand float64) {
	if row, ok := l.pending.due(l.steps); ok {
		if actual := l.features.actualPeak; l.rows.size > 0 && l.evidence(row, actual) {
			l.rows.add(row, actual, l.features.level.Value())
		}
	}
	if l.steps%l.every == 0 && !math.IsNaN(demand) {
		l.pending.add(l.steps+l.features.window, l.features.row)
	}
	l.steps++
}

// evidence reports whether an actual peak is evidence. A lower bound is evidence only if it is above both quantiles, because the loss of a
// censored quantile regression does not depend on a forecast above the censored value (Powell 1986).
func (l *pooledRegression) evidence(row []float64, actual float64) bool {
	if math.IsNaN(actual) || l.features.exact() {
		return !math.IsNaN(actual)
	}
	middle, tail := l.coefficients()
	return actual > math.Max(middle.At(row), tail.At(row))
}

// forecast returns the forecast for the window ahead of the newest step.
func (l *pooledRegression) forecast() Peak {
	row, level := l.features.row, l.features.level.Value()
	middle, tail := l.coefficients()
	w := Peak{Median: math.Max(middle.At(row), 0)}
	w.Spread = math.Max(math.Max(tail.At(row), 0)-w.Median, minTail*level)
	return w
}

func (l *pooledRegression) coefficients() (middle, tail quantreg.Coefficients) {
	if l.middle == nil {
		return l.prior.Median.Mean, l.prior.Upper.Mean
	}
	return l.middle, l.tail
}

// refitRegression is the time between two fits. More frequent fits are not worth their CPU time.
const refitRegression = 12 * time.Hour

// fit refits both quantiles, which takes a few milliseconds. If a fit fails, the previous coefficients stay.
func (l *pooledRegression) fit() {
	if l.rows.n < minRows {
		return
	}
	data, ok := l.rows.scaled(l.room)
	if l.room = data; !ok {
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
