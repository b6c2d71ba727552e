package simulate

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Resample interpolates a series linearly on a grid of another step, across gaps. The grid begins at the first
// observation and ends no later than the last. No noise is added: within a coarse step the demand is smoother than it
// was, for every policy.
func Resample(s forecast.Series, step time.Duration) (forecast.Series, error) {
	if step <= 0 || s.Step <= 0 {
		return forecast.Series{}, fmt.Errorf(
			"resample: from a step of %s to a step of %s; expected steps above 0",
			s.Step,
			step,
		)
	}
	known := make([]int, 0, s.Len())
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			known = append(known, i)
		}
	}
	if len(known) == 0 {
		return forecast.Series{}, fmt.Errorf("resample: the series has no observed value: %w", forecast.ErrTooShort)
	}
	after := func(k int) time.Duration { return time.Duration(known[k]-known[0]) * s.Step }
	last := len(known) - 1
	out := forecast.Series{Start: s.TimeAt(known[0]), Step: step}
	k := 0
	for at := time.Duration(0); at <= after(last); at += step {
		for k < last && after(k+1) <= at {
			k++
		}
		value := s.Values[known[k]]
		if k < last {
			value += float64(at-after(k)) / float64(after(k+1)-after(k)) * (s.Values[known[k+1]] - value)
		}
		out.Values = append(out.Values, value)
	}
	return out, nil
}
