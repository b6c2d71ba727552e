package diagnose

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Period is a season that a series has.
type Period struct {
	// Length is in steps.
	Length int
	// Strength is how much of what is neither trend nor another season it explains, from 0 to 1 (Wang, Smith & Hyndman
	// 2006).
	Strength float64
}

// fewestCycles is how often a season must have been seen: once for the trend's sake, which needs half a season at
// either end, and twice to be compared.
const fewestCycles = 3

// Periods are the seasons of a series, the shortest first; nil where it has none. A step determines the lengths to try:
// a minute, an hour, a day, a week. With a step of 0 the peaks of the autocorrelation are tried.
//
// A length is a season when, without the trend (a moving average of that length) and the shorter seasons, the values a
// season apart correlate more than chance would have it. On a random walk they do not correlate at all, as the moving
// average leaves each value to steps of the walk within half a season of it. What chance would have is Bartlett's
// (1946) variance by the autocorrelation of what the season does not explain. About one random series in a hundred has
// a season all the same.
func Periods(values []float64, step time.Duration) []Period {
	filled, ok := ready(values)
	if !ok {
		return nil
	}
	candidates, critical := clock(step, len(values)), clockCritical
	if step <= 0 {
		candidates, critical = peaks(filled), peakCritical
	}
	var found []int
	for _, period := range candidates {
		effect, deviate := season(filled, period, found)
		if deviate > critical {
			found = append(found, period)
			for i := range filled {
				filled[i] -= effect[i%period]
			}
		}
	}
	return strengths(values, found)
}

// ready is a copy of the values in units of their scale, with the gaps bridged; false where nothing moves.
func ready(values []float64) ([]float64, bool) {
	scaled := make([]float64, len(values))
	scale := units.Scale(values)
	for i, v := range values {
		scaled[i] = v / scale
		if !units.Observed(v) {
			scaled[i] = math.NaN()
		}
	}
	filled, err := decompose.Interpolate(scaled)
	return filled, err == nil && standardise(filled)
}

// The critical values of a season's deviate. A clock offers four lengths, the autocorrelation many, the best of which
// would look like a season by chance.
const (
	clockCritical = 3.0
	peakCritical  = 4.0
)

// clock are the lengths that people, and the programs that they schedule, keep to.
func clock(step time.Duration, n int) []int {
	var out []int
	for _, length := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		if step > 0 && length%step == 0 && length/step > 1 && int64(length/step) <= int64(n/fewestCycles) {
			out = append(out, int(length/step))
		}
	}
	return out
}

// mostPeaks is how many lengths the autocorrelation may propose.
const mostPeaks = 12

// peaks are the lags at which the autocorrelation is positive and larger than at either side: the highest of them, the
// shortest first. A line is taken off, and a difference if that leaves the series wandering, as both would hide them.
func peaks(values []float64) []int {
	limit := len(values) / fewestCycles
	if limit < 2 {
		return nil
	}
	rest := slices.Clone(values)
	detrend(rest)
	if Differences(rest, 1) > 0 {
		difference(rest)
	}
	acf := ACF(rest, limit+1)
	var out []int
	for lag := 2; lag <= limit; lag++ {
		if acf[lag] > 0 && acf[lag] > acf[lag-1] && acf[lag] >= acf[lag+1] {
			out = append(out, lag)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(acf[b], acf[a]) })
	out = out[:min(len(out), mostPeaks)]
	slices.Sort(out)
	return out
}

// strengths are the seasons of the periods found, with their strengths by one decomposition.
func strengths(values []float64, periods []int) []Period {
	if len(periods) == 0 {
		return nil
	}
	parts, err := decompose.MSTL{Periods: periods}.Decompose(values)
	if err != nil {
		return nil
	}
	var out []Period
	for i, season := range parts.Seasons {
		out = append(out, Period{Length: season.Period, Strength: parts.SeasonalStrength(i)})
	}
	return out
}
