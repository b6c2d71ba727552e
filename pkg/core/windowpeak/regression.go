package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// The levels that are learnt, the least of a spread as a share of the level, and how rows are kept.
const (
	median = 0.5
	upper  = 0.95
	// leastTail keeps a margin above nothing where the two quantiles meet, as a share of the level.
	leastTail = 0.005
	// sampleEvery apart, rows tell something new; they are kept for remember.
	sampleEvery = 6 * time.Minute
	remember    = 7 * 24 * time.Hour
	// priorRows is how many rows of its own a workload needs to weigh as much as the others.
	priorRows = 167
	fewest    = 60
	// epsilon is the residual, as a share of the level, below which the loss is bent: with less the tail jumps.
	epsilon = 3e-3
	passes  = 2
)

// Learner learns the median of the window peak and the distance from there to its 95 % quantile, by linear quantile
// regression on what is known now. It is a function of what it was given: no clock.
type Learner struct {
	features *Features
	prior    Prior
	pending  pending
	rows     rows
	steps    int
	every    int
	middle   quantreg.Coefficients
	tail     quantreg.Coefficients
}

// NewLearner begins with the prior, whose columns must be the features' (see Prior.For).
func NewLearner(c Config, prior Prior) *Learner {
	f := NewFeatures(c)
	every := c.steps(sampleEvery)
	return &Learner{
		features: f, prior: prior.For(f.Names()), every: every,
		pending: newPending(f.window/every+2, len(f.row)),
		rows:    newRows(int(remember/(time.Duration(every)*c.Step)), len(f.row)),
	}
}

// Push takes the demand of a step, NaN for a gap, and the models' maxima of the window ahead.
func (l *Learner) Push(demand float64, models []float64) {
	l.features.Push(demand, models)
	l.step(demand)
}

// PushBound takes the least that the demand of a step was, where a saturated service hides what it is.
func (l *Learner) PushBound(atLeast float64, models []float64) {
	l.features.PushBound(atLeast, models)
	l.step(atLeast)
}

func (l *Learner) step(demand float64) {
	if row, ok := l.pending.due(l.steps); ok {
		if came := l.features.Came(); l.evidence(row, came) {
			l.rows.add(row, came, l.features.Level())
		}
	}
	if l.steps%l.every == 0 && !math.IsNaN(demand) {
		l.pending.add(l.steps+l.features.window, l.features.Row())
	}
	l.steps++
}

// evidence says whether the maximum that came after a row says something. One that is a lower bound does where it is above
// both quantiles: the loss of a censored quantile regression does not depend on a forecast above the censored value
// (Powell 1986).
func (l *Learner) evidence(row []float64, came float64) bool {
	if math.IsNaN(came) || l.features.Exact() {
		return !math.IsNaN(came)
	}
	middle, tail := l.coefficients()
	return came > math.Max(middle.At(row), tail.At(row))
}

// Window is the forecast of the window ahead of the newest step.
func (l *Learner) Window() Peak {
	row, level := l.features.Row(), l.features.Level()
	middle, tail := l.coefficients()
	w := Peak{Median: math.Max(middle.At(row), 0)}
	w.Spread = math.Max(math.Max(tail.At(row), 0)-w.Median, leastTail*level)
	return w
}

// Features are those of the newest step.
func (l *Learner) Features() *Features { return l.features }

// Rows are how many windows the learner has seen come.
func (l *Learner) Rows() int { return l.rows.n }

func (l *Learner) coefficients() (middle, tail quantreg.Coefficients) {
	if l.middle == nil {
		return l.prior.Median.Mean, l.prior.Upper.Mean
	}
	return l.middle, l.tail
}

// refitRegression is how often a fit is worth its time.
const refitRegression = 12 * time.Hour

// Fit fits both regressions anew, to the windows that came: some milliseconds. What cannot be fitted stays as it was.
func (l *Learner) Fit() {
	if l.rows.n < fewest {
		return
	}
	data, ok := l.rows.scaled()
	if !ok {
		return
	}
	middle, tail := l.coefficients()
	m, err := regression(median, middle, l.prior.Median).Fit(data)
	if err != nil {
		return
	}
	t, err := regression(upper, tail, l.prior.Upper).Fit(data)
	if err != nil {
		return
	}
	l.middle, l.tail = m, t
}

func regression(level float64, start quantreg.Coefficients, prior quantreg.Prior) quantreg.Regression {
	return quantreg.Regression{
		Level: level, Epsilon: epsilon, Passes: passes, Start: start, Prior: prior.Times(priorRows),
	}
}
