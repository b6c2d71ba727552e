// Package autoregress forecasts a series from its own past by linear regression: the coming value is a weighted sum of
// the values at chosen lags (the last few steps, the same step a day and a week ago, their neighbours), with weights
// estimated by ridge regression (Hoerl & Kennard 1970):
//
//	y(t) = c + w₁·y(t−k₁) + w₂·y(t−k₂) + … + ε(t)
//
// It is a seasonal autoregression without the moving average of a SARIMA and therefore without its likelihood: one pass
// over the series and one small linear system, whatever the length of the seasons. Several seasons cost three lags each.
// The steps after the first are forecast recursively: forecasts take the place of the values that are not known yet.
//
//	model := autoregress.Ridge{Lags: autoregress.SeasonalLags(24, 168)}
package autoregress

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

const (
	// passes is how often the weights are estimated again with large errors held down, and tuning from which multiple of
	// the robust deviation on errors count as large.
	passes = 2
	tuning = 1.0
)

// Ridge is a linear regression of a series on its own past, with a small penalty on the size of the weights.
type Ridge struct {
	// Lags are how many steps back the regression looks, each 1 or more, ascending. SeasonalLags proposes them.
	Lags []int
	// Profile is the period of a seasonal mean that is taken off first, so that the regression sees deviations from the
	// usual value of the slot; 0 or 1 takes off the mean of the series.
	Profile int
	// Penalty shrinks the weights towards 0: it is added to the variances (1 for a series of unit deviation) of the
	// regressors. 0 means 1e-5, just enough to keep weights of near copies from growing against each other.
	Penalty float64
	// HalfLife is after how many steps an observation counts for half as much in the estimate; 0 means never.
	HalfLife float64
}

// regress estimates the weights of the lags, the constant last, and the deviation of the one-step errors. It is Huber's
// regression by reweighting (Huber 1964; Holland & Welsch 1977) with so low a threshold that it is near the least
// absolute errors: outages and bursts are what a series of requests is made of, and squared they would rule the weights.
func (m Ridge) regress(z, filled []float64) (weights []float64, deviation float64, err error) {
	errs := make([]float64, len(z))
	copy(errs, z) // The errors of no weights; none is held down in the first pass.
	spread := math.Inf(1)
	for range passes + 1 {
		weights, err = m.solve(z, filled, errs, tuning*spread)
		if err != nil {
			return nil, 0, err
		}
		m.errorsTo(errs, z, filled, weights)
		spread = robust(errs)
	}
	squares, n := 0.0, 0
	for _, e := range errs {
		if !math.IsNaN(e) {
			squares += e * e
			n++
		}
	}
	return weights, math.Sqrt(squares / float64(max(n-len(weights), 1))), nil
}

// robust is the deviation by the median of the magnitudes, infinite where more than half of the errors are nil.
func robust(errs []float64) float64 {
	magnitudes := make([]float64, 0, len(errs))
	for _, e := range errs {
		if !math.IsNaN(e) {
			magnitudes = append(magnitudes, math.Abs(e))
		}
	}
	slices.Sort(magnitudes)
	if median := magnitudes[len(magnitudes)/2]; median > 0 {
		return 1.4826 * median
	}
	return math.Inf(1)
}

// errorsTo writes the one-step errors, NaN where there is none.
func (m Ridge) errorsTo(dst, z, filled, weights []float64) {
	row := make([]float64, len(weights))
	longest := m.Lags[len(m.Lags)-1]
	for t := range dst {
		dst[t] = math.NaN()
		if t < longest || math.IsNaN(z[t]) {
			continue
		}
		m.regressors(row, filled, t)
		e := z[t]
		for j, w := range weights {
			e -= w * row[j]
		}
		dst[t] = e
	}
}

// solve solves the normal equations (X'WX + λI)b = X'Wy. Targets are the observed values z, regressors the bridged ones;
// W holds down what is old, and errors that are large.
func (m Ridge) solve(z, filled, errs []float64, large float64) ([]float64, error) {
	p := len(m.Lags) + 1
	moments, right := make([]float64, p*p), make([]float64, p)
	row := make([]float64, p)
	total := 0.0
	for t := m.Lags[p-2]; t < len(z); t++ {
		y := z[t]
		if math.IsNaN(y) {
			continue
		}
		m.regressors(row, filled, t)
		w := m.weight(len(z) - 1 - t)
		if e := math.Abs(errs[t]); e > large {
			w *= large / e
		}
		total += w
		for i, x := range row {
			x *= w
			right[i] += x * y
			line := moments[i*p : i*p+i+1] // the lower triangle
			for j := range line {
				line[j] += x * row[j]
			}
		}
	}
	return solvePenalised(moments, right, cmp.Or(m.Penalty, defaultPenalty)*total)
}

// solvePenalised solves the equations of a lower triangle of moments with a penalty added to its diagonal.
func solvePenalised(moments, right []float64, penalty float64) ([]float64, error) {
	p := len(right)
	symmetric := mat.NewSymDense(p, nil)
	for i := range p {
		for j := range i {
			symmetric.SetSym(i, j, moments[i*p+j])
		}
		symmetric.SetSym(i, i, moments[i*p+i]+penalty)
	}
	var factor mat.Cholesky
	var solution mat.VecDense
	if !factor.Factorize(symmetric) || factor.SolveVecTo(&solution, mat.NewVecDense(p, right)) != nil {
		return nil, fmt.Errorf("the %d normal equations are singular: %w", p, forecast.ErrNoConvergence)
	}
	return solution.RawVector().Data, nil
}

// regressors writes the values at the lags before step t, and 1 for the constant.
func (m Ridge) regressors(row, filled []float64, t int) {
	for j, lag := range m.Lags {
		row[j] = filled[t-lag]
	}
	row[len(m.Lags)] = 1
}

// weight of an observation of an age in steps.
func (m Ridge) weight(age int) float64 {
	if m.HalfLife == 0 {
		return 1
	}
	return math.Exp2(-float64(age) / m.HalfLife)
}

// defaultPenalty is what a Penalty of 0 means.
const defaultPenalty = 1e-5

// neighbors is how many steps on either side of a season's lag are regressed on, too.
const neighbors = 3

// SeasonalLags are the newest three steps and, for every season, the same step a season ago and its three neighbors on
// either side: with them the regression follows the season's shape and how far the last one was above or below it.
func SeasonalLags(seasons ...int) []int {
	lags := []int{1, 2, 3}
	for _, m := range seasons {
		for lag := m - neighbors; lag <= m+neighbors; lag++ {
			lags = append(lags, lag)
		}
	}
	slices.Sort(lags)
	return slices.DeleteFunc(slices.Compact(lags), func(lag int) bool { return lag < 1 })
}

// Name is the model with its number of lags, the longest of them and its profile: "Ridge AR(9 lags to 169, profile
// 24)".
func (m Ridge) Name() string {
	longest := 0
	if len(m.Lags) > 0 {
		longest = m.Lags[len(m.Lags)-1]
	}
	if m.Profile > 1 {
		return fmt.Sprintf("Ridge AR(%d lags to %d, profile %d)", len(m.Lags), longest, m.Profile)
	}
	return fmt.Sprintf("Ridge AR(%d lags to %d)", len(m.Lags), longest)
}

// Fit wants, beyond the longest lag, twice as many observations as there are lags, and two whole periods of a profile.
// Gaps are bridged where they are used and never regressed on. Errors: forecast.ErrParameter,
// forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Ridge) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows the weights.
func (m Ridge) Estimate(s forecast.Series) (*Fitted, error) {
	if err := m.check(s); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	level := newProfile(s.Values, max(m.Profile, 1))
	z := make([]float64, s.Len())
	for i, y := range s.Values {
		z[i] = (y - level.means[i%len(level.means)]) / level.scale
	}
	filled := bridged(z)
	weights, deviation, err := m.regress(z, filled)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	fitted := newFitted(m, s, level, filled)
	fitted.weights, fitted.constant, fitted.deviation = weights[:len(m.Lags)], weights[len(m.Lags)], deviation
	return fitted, nil
}

func (m Ridge) check(s forecast.Series) error {
	if len(m.Lags) == 0 || m.Lags[0] < 1 || m.Profile < 0 || !(m.Penalty >= 0) || !(m.HalfLife >= 0) {
		return fmt.Errorf(
			"lags %v, profile %d, penalty %v, half-life %v: expected at least one lag, lags of 1 or more, "+
				"and no negative value: %w",
			m.Lags,
			m.Profile,
			m.Penalty,
			m.HalfLife,
			forecast.ErrParameter,
		)
	}
	for i := range m.Lags[1:] {
		if m.Lags[i+1] <= m.Lags[i] {
			return fmt.Errorf("lags %v, expected ascending lags: %w", m.Lags, forecast.ErrParameter)
		}
	}
	if err := numeric.Check(s, 2); err != nil {
		return err
	}
	longest := m.Lags[len(m.Lags)-1]
	if want := 2 * m.Profile; m.Profile > 1 && s.Len() < want {
		return fmt.Errorf("%d steps, expected at least %d, which are two periods of the profile: %w", s.Len(),
			want, forecast.ErrTooShort)
	}
	want := 2*len(m.Lags) + 2
	if s.Len() < longest+want || s.Slice(longest, s.Len()).Observed() < want {
		return fmt.Errorf("%d steps, expected at least %d observations beyond lag %d: %w", s.Len(), want,
			longest, forecast.ErrTooShort)
	}
	return nil
}

// profile is the usual value of every slot, and the typical distance from it.
type profile struct {
	means []float64
	scale float64
}

// newProfile takes the means of the slots (the mean of all for a slot that was never observed) and the deviation from
// them, 1 where there is none.
func newProfile(values []float64, period int) profile {
	unit := numeric.Scale(values)
	p := profile{means: make([]float64, period)}
	all, n := 0.0, 0.0
	counts := make([]float64, period)
	for i, y := range values {
		if math.IsNaN(y) {
			continue
		}
		n++
		all += (y/unit - all) / n
		slot := i % period
		counts[slot]++
		p.means[slot] += (y/unit - p.means[slot]) / counts[slot]
	}
	for slot, count := range counts {
		if count == 0 {
			p.means[slot] = all
		}
	}
	squares := 0.0
	for i, y := range values {
		if d := y/unit - p.means[i%period]; !math.IsNaN(d) {
			squares += d * d
		}
	}
	p.scale = math.Sqrt(squares/n) * unit
	if !(p.scale > 1e-12*unit) || p.scale < math.SmallestNonzeroFloat64*1e16 {
		p.scale = unit // A constant: every deviation is rounding.
	}
	for slot := range p.means {
		p.means[slot] *= unit
	}
	return p
}

// bridged is a copy with the gaps bridged by straight lines; at the ends they keep the nearest value.
func bridged(z []float64) []float64 {
	out := slices.Clone(z)
	previous := -1
	for i, v := range z {
		if math.IsNaN(v) {
			continue
		}
		for j := previous + 1; j < i; j++ {
			out[j] = v
			if previous >= 0 {
				share := float64(j-previous) / float64(i-previous)
				out[j] = z[previous] + share*(v-z[previous])
			}
		}
		previous = i
	}
	for j := previous + 1; j < len(out); j++ {
		out[j] = z[previous]
	}
	return out
}
