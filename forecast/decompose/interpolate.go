package decompose

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Interpolate is a copy of the values with the gaps (NaN) filled. Without periods a gap is bridged by a straight line,
// and at either end by the nearest observation. With periods the line bridges the seasonally adjusted series of a
// robust MSTL, and the seasons are put on top; a period of which there are not more than two seasons observed is left
// aside. Where that would lead more than half the observed range beyond it, the plain line serves. Values without a
// single observation are ErrTooShort.
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

// fillGaps writes the filling to dst wherever values has a gap.
func fillGaps(dst, values, filling []float64) {
	for i, v := range values {
		if math.IsNaN(v) {
			dst[i] = filling[i]
		}
	}
}

// bridge fills gaps by straight lines, and at the ends by the nearest value.
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

// believable reports whether filled lies within the range of the observed values, or at most half its width beyond.
func believable(filled, values []float64) bool {
	low, high := extremes(values)
	margin := high/2 - low/2
	return !slices.ContainsFunc(filled, func(v float64) bool { return !(v >= low-margin && v <= high+margin) })
}

// extremes are the least and the largest observation.
func extremes(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}
