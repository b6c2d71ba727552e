package numeric_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

func TestScaleLosesNoDigit(t *testing.T) {
	for _, v := range []float64{1, 0.1, 3e8, 1e-300, 1e150, -7.3} {
		scale := numeric.Scale([]float64{math.NaN(), v, v / 3})
		if got := math.Abs(v / scale); got < 0.5 || got >= 1 {
			t.Errorf("%v over its scale is %v, want it from 0.5 to 1", v, got)
		}
		if back := v / scale * scale; back != v {
			t.Errorf("%v comes back as %v", v, back)
		}
	}
	for name, values := range map[string][]float64{"zeros": {0, 0}, "gaps": {math.NaN()}, "nothing": nil} {
		if got := numeric.Scale(values); got != 1 {
			t.Errorf("%s: scale %v, want 1", name, got)
		}
	}
	if tiny := math.SmallestNonzeroFloat64; tiny/numeric.Scale([]float64{tiny}) == 0 {
		t.Error("the smallest number vanishes")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   error
	}{
		{"an observation and a gap", []float64{1, math.NaN()}, nil},
		{"too large", []float64{1, -2e150}, forecast.ErrNotFinite},
		{"infinite", []float64{1, math.Inf(-1)}, forecast.ErrNotFinite},
		{"too short", []float64{math.NaN()}, forecast.ErrTooShort},
	} {
		if err := numeric.Check(forecast.Series{Step: time.Second, Values: c.values}, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
