package smoothing

import "math"

// additive decomposes two or more whole seasons into a level, a trend per step, and an additive season that sums to 0. It computes a
// centered moving average over a period, a straight line through this average, and the mean distance of each slot of the season from the
// average. The level is the value of the line one step before its first point. Gaps are filled first. The first value must not be a gap.
func additive(values []float64, period int) state {
	window := fill(values, period)
	half := period / 2
	average := movingAverage(window, period)
	out := state{season: make([]float64, period)}
	out.level, out.trend = line(average)
	counts := make([]float64, period)
	for i, mean := range average {
		slot := (i + half) % period
		counts[slot]++
		out.season[slot] += (window[i+half] - mean - out.season[slot]) / counts[slot]
	}
	center := mean(out.season)
	for i := range out.season {
		out.season[i] -= center
	}
	return out
}

func mean(values []float64) float64 {
	out := 0.0
	for _, v := range values {
		out += v / float64(len(values))
	}
	return out
}

// movingAverage returns the centered mean over a period. The first element belongs to step period/2. With an even period, both ends have
// half the weight.
func movingAverage(values []float64, period int) []float64 {
	even := period%2 == 0
	width := period
	if even {
		width++
	}
	out := make([]float64, len(values)-width+1)
	for i := range out {
		// The sum is computed again from time to time, so that rounding errors do not accumulate.
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

// fill returns a copy of whole seasons with their gaps filled: by the mean of the same slot in the other seasons, and by a straight line if
// no season has the slot.
func fill(values []float64, period int) []float64 {
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

// bridge fills gaps by straight lines, and a gap at the end by the nearest value. The first value must not be a gap.
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

// line returns the least-squares line through values at 1, 2, …: its value at 0 and its slope.
func line(values []float64) (intercept, slope float64) {
	n, center, mean := 0.0, 0.0, 0.0
	for i, v := range values {
		n++
		center += (float64(i+1) - center) / n
		mean += (v - mean) / n
	}
	cross, square := 0.0, 0.0
	for i, v := range values {
		d := float64(i+1) - center
		cross += d * (v - mean)
		square += d * d
	}
	if square > 0 {
		slope = cross / square
	}
	return mean - slope*center, slope
}
