package decompose

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Interpolate returns a copy of the values with the gaps (NaN) filled. Without periods, a gap is bridged by a straight line, and a gap at
// either end by the nearest observation. With periods, the line bridges the seasonally adjusted series of a robust MSTL, and the seasons
// are added. A period is ignored if not more than two of its seasons were observed. If the result would be outside the observed range by
// more than half of this range, the plain line is used. Values without any observation are an error (ErrTooShort).
func Interpolate(values []float64, periods ...int) ([]float64, error) {
	out := slices.Clone(values)
	observed := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			observed++
		}
	}
	switch observed {
	case len(values):
		return out, nil
	case 0:
		return nil, fmt.Errorf("interpolate: %d gaps, but no observation: %w", len(values), forecast.ErrTooShort)
	}
	bridge(out)
	periods = usable(periods, observed-1)
	if len(periods) == 0 {
		return out, nil
	}
	guess := slices.Clone(out)
	regressGaps(guess, values, periods)
	parts := split(guess, periods, true)
	line := parts.Adjusted()
	for i, v := range values {
		if math.IsNaN(v) {
			line[i] = v
		}
	}
	bridge(line)
	for _, season := range parts.Seasons {
		add(line, season.Values)
	}
	if believable(line, values) {
		fillGaps(out, values, line)
	}
	return out, nil
}

// fillGaps copies the filling to dst at every gap of values.
func fillGaps(dst, values, filling []float64) {
	for i, v := range values {
		if math.IsNaN(v) {
			dst[i] = filling[i]
		}
	}
}

// bridge fills gaps by straight lines, and gaps at the ends by the nearest value.
func bridge(values []float64) {
	last := -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if last < 0 {
			for k := range i {
				values[k] = v
			}
		} else {
			interpolate(values, last, i)
		}
		last = i
	}
	for k := last + 1; k < len(values); k++ {
		values[k] = values[last]
	}
}

// believable reports whether the filled values are within the range of the observed values, or outside by at most half of this range.
func believable(filled, values []float64) bool {
	low, high := extremes(values)
	margin := high/2 - low/2
	return !slices.ContainsFunc(filled, func(v float64) bool { return !(v >= low-margin && v <= high+margin) })
}

// extremes returns the smallest and the largest observation.
func extremes(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}
