package simulate_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/simulate"
)

func TestResample(t *testing.T) {
	gap := math.NaN()
	start := time.Unix(600, 0).UTC()
	for name, tt := range map[string]struct {
		step   time.Duration
		values []float64
		later  time.Duration // the start
		want   []float64
	}{
		"a line between minutes":       {time.Minute, []float64{0, 4, 2}, 0, []float64{0, 1, 2, 3, 4, 3.5, 3, 2.5, 2}},
		"the same grid":                {step, []float64{1, 5, 2}, 0, []float64{1, 5, 2}},
		"a finer one":                  {10 * time.Second, []float64{0, 1, 2, 3}, 0, []float64{0, 1.5, 3}},
		"a gap is passed over":         {30 * time.Second, []float64{2, gap, 6}, 0, []float64{2, 3, 4, 5, 6}},
		"gaps at the ends are no time": {step, []float64{gap, 3, 4, gap}, step, []float64{3, 4}},
		"one observation":              {time.Hour, []float64{7}, 0, []float64{7}},
		"the last may lie between":     {20 * time.Second, []float64{0, 4}, 0, []float64{0, 3}},
	} {
		got, err := simulate.Resample(forecast.Series{Start: start, Step: tt.step, Values: tt.values}, step)
		want := forecast.Series{Start: start.Add(tt.later), Step: step, Values: tt.want}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
	if _, err := simulate.Resample(demand(gap, gap), step); !errors.Is(err, forecast.ErrTooShort) {
		t.Errorf("nothing but gaps: %v", err)
	}
	if _, err := simulate.Resample(demand(1, 2), 0); err == nil {
		t.Error("a step of 0 is no error")
	}
}
