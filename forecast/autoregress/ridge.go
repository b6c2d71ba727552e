package autoregress

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
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

// defaultPenalty is what a Penalty of 0 means.
const defaultPenalty = 1e-5

// SeasonalLags are the newest three steps and, for every season, the same step a season ago and its two neighbours:
// with them the regression can follow the season's shape and how far the last one was above or below it.
func SeasonalLags(seasons ...int) []int {
	lags := []int{1, 2, 3}
	for _, m := range seasons {
		lags = append(lags, m-1, m, m+1)
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
			"lags %v, profile %d, penalty %v, half-life %v: want one lag or more from 1 on, the rest not "+
				"negative: %w",
			m.Lags,
			m.Profile,
			m.Penalty,
			m.HalfLife,
			forecast.ErrParameter,
		)
	}
	for i := range m.Lags[1:] {
		if m.Lags[i+1] <= m.Lags[i] {
			return fmt.Errorf("lags %v, want them ascending: %w", m.Lags, forecast.ErrParameter)
		}
	}
	if err := numeric.Check(s, 2); err != nil {
		return err
	}
	longest := m.Lags[len(m.Lags)-1]
	if want := 2 * m.Profile; m.Profile > 1 && s.Len() < want {
		return fmt.Errorf("%d steps, want %d, two periods of the profile: %w", s.Len(), want, forecast.ErrTooShort)
	}
	want := 2*len(m.Lags) + 2
	if s.Len() < longest+want || s.Slice(longest, s.Len()).Observed() < want {
		return fmt.Errorf("%d steps, want %d observed beyond lag %d: %w", s.Len(), want, longest, forecast.ErrTooShort)
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
