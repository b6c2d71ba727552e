package series_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// The mean is unbiased from the start, fades over its time constant, and is shrunk to a prior while few values were
// added.
func TestMean(t *testing.T) {
	m := series.NewTrailingMean(time.Hour, time.Minute)
	if got := m.Value(); got != 0 {
		t.Errorf("%v before the first value", got)
	}
	if got := m.Shrunk(7, 0.02); math.Abs(got-7) > 1e-12 {
		t.Errorf("%v of a prior of 7 and nothing else", got)
	}
	for range 5 {
		m.Add(3)
	}
	if got := m.Value(); math.Abs(got-3) > 1e-12 {
		t.Errorf("%v of nothing but 3", got)
	}
	for range 600 {
		m.Add(3)
	}
	for range 60 {
		m.Add(0)
	}
	// A value weighs 59/60 of the one after it.
	if got, want := m.Value(), 3*math.Pow(59.0/60, 60); math.Abs(got-want) > 1e-3 {
		t.Errorf("%v an hour after the last 3, want %v", got, want)
	}
	if got := m.Shrunk(100, 0.02); got < m.Value() || got > m.Value()+2 {
		t.Errorf("%v when enough was seen, of a mean of %v", got, m.Value())
	}
}
