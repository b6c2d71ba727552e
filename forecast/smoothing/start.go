package smoothing

import "math"

// startLevel is the state at the first observation, and the step after it.
func startLevel(values []float64, first int) (state, int) {
	return state{level: values[first], season: []float64{0}}, first + 1
}

// startTrend is the state at the second observation, with the trend between the first two, and the step after it.
func startTrend(values []float64, first int) (state, int) {
	second := first + 1
	for math.IsNaN(values[second]) {
		second++
	}
	trend := (values[second] - values[first]) / float64(second-first)
	return state{level: values[second], trend: trend, season: []float64{0}}, second + 1
}

// startSeason is the state from the classical decomposition of the first seasons, and the step after the first season:
// the season is the mean distance of each slot from the moving average over a period, level and trend are the line
// through the moving average. The level is the line's value before its first point, as R has it; it catches up within
// the second season.
func startSeason(values []float64, first, period, seasons int) (state, int) {
	window := fillSeasons(values[first:first+period*seasons], period)
	half := period / 2
	average := movingAverage(window, period)
	intercept, slope := line(average)
	season := make([]float64, period)
	counts := make([]float64, period)
	for i, mean := range average {
		slot := (i + half) % period
		counts[slot]++
		season[slot] += (window[i+half] - mean - season[slot]) / counts[slot]
	}
	centre := 0.0
	for _, v := range season {
		centre += v / float64(period)
	}
	for i := range season {
		season[i] -= centre
	}
	return state{level: intercept, trend: slope, season: season}, first + period
}

// movingAverage is the centred mean over a period; the first element belongs to step period/2. An even period takes
// half the weight at either end.
func movingAverage(values []float64, period int) []float64 {
	even := period%2 == 0
	width := period
	if even {
		width++
	}
	out := make([]float64, len(values)-width+1)
	for i := range out {
		// Summed afresh every so often, so that rounding does not add up.
		if i%period == 0 {
			for _, v := range values[i : i+period] {
				out[i] += v
			}
			continue
		}
		out[i] = out[i-1] - values[i-1] + values[i+period-1]
	}
	for i := range out {
		if even {
			out[i] += (values[i+period] - values[i]) / 2
		}
		out[i] /= float64(period)
	}
	return out
}

// fillSeasons is a copy of whole seasons with their gaps filled: by the mean of the same slot in the other seasons, and
// by a straight line where no season has the slot.
func fillSeasons(values []float64, period int) []float64 {
	out := append([]float64(nil), values...)
	for i, v := range values {
		if !math.IsNaN(v) {
			continue
		}
		mean, count := 0.0, 0.0
		for j := i % period; j < len(values); j += period {
			if !math.IsNaN(values[j]) {
				count++
				mean += (values[j] - mean) / count
			}
		}
		if count > 0 {
			out[i] = mean
		}
	}
	bridge(out)
	return out
}

// bridge fills gaps by straight lines, and by the nearest value at the end. The first value is there.
func bridge(values []float64) {
	last := 0
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		for j := last + 1; j < i; j++ {
			values[j] = values[last] + (v-values[last])*float64(j-last)/float64(i-last)
		}
		last = i
	}
	for j := last + 1; j < len(values); j++ {
		values[j] = values[last]
	}
}

// line is the least-squares line through values at 1, 2, …: its value at 0 and its slope.
func line(values []float64) (intercept, slope float64) {
	n := float64(len(values))
	centre, mean := (n+1)/2, 0.0
	for _, v := range values {
		mean += v / n
	}
	cross, square := 0.0, 0.0
	for i, v := range values {
		d := float64(i+1) - centre
		cross += d * (v - mean)
		square += d * d
	}
	if square > 0 {
		slope = cross / square
	}
	return mean - slope*centre, slope
}
