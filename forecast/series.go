package forecast

import (
	"fmt"
	"math"
	"time"
)

// Series is an evenly spaced series: Values[i] was observed at Start + i·Step. NaN marks a gap.
type Series struct {
	Start  time.Time
	Step   time.Duration
	Values []float64
}

// Len is the number of steps, gaps included.
func (s Series) Len() int { return len(s.Values) }

// TimeAt is the time of step i, which may lie beyond the end.
func (s Series) TimeAt(i int) time.Time { return s.Start.Add(time.Duration(i) * s.Step) }

// End is the time of the step after the last one: where the next observation belongs.
func (s Series) End() time.Time { return s.TimeAt(len(s.Values)) }

// Slice is the part [i, j) on the same grid. It shares the values.
func (s Series) Slice(i, j int) Series {
	return Series{Start: s.TimeAt(i), Step: s.Step, Values: s.Values[i:j:j]}
}

// Observed counts the steps that are not gaps.
func (s Series) Observed() int {
	n := 0
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// Check reports what makes the series unfit for any model: a step that is not positive (ErrParameter), an infinite
// value (ErrNotFinite) or fewer than want observations (ErrTooShort).
func (s Series) Check(want int) error {
	if s.Step <= 0 {
		return fmt.Errorf("series: step %v, want more than 0: %w", s.Step, ErrParameter)
	}
	for i, v := range s.Values {
		if math.IsInf(v, 0) {
			return fmt.Errorf("series: value %d is %v: %w", i, v, ErrNotFinite)
		}
	}
	if n := s.Observed(); n < want {
		return fmt.Errorf("series: %d observations, want %d: %w", n, want, ErrTooShort)
	}
	return nil
}
