package simulate_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
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
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, name, want, got)
	}
	if _, err := simulate.Resample(demand(gap, gap), step); !errors.Is(err, forecast.ErrTooShort) {
		t.Errorf("nothing but gaps: %v", err)
	}
	if _, err := simulate.Resample(demand(1, 2), 0); err == nil {
		t.Error("a step of 0 is no error")
	}
}

// FuzzResample lays short series on other grids: where the grids meet the values are those observed, and nowhere is there
// one beyond them.
func FuzzResample(f *testing.F) {
	f.Add([]byte{1, 2, 0, 9}, uint8(60), uint8(15))
	f.Add([]byte{0, 0, 0}, uint8(1), uint8(7))
	f.Add([]byte{200}, uint8(10), uint8(10))
	f.Fuzz(func(t *testing.T, values []byte, from, to uint8) {
		s := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: time.Duration(from) * time.Second}
		low, high, first := math.Inf(1), math.Inf(-1), -1
		for i, b := range values {
			v := float64(b)
			if b == 0 {
				v = math.NaN()
			} else {
				low, high = min(low, v), max(high, v)
				if first < 0 {
					first = i
				}
			}
			s.Values = append(s.Values, v)
		}
		got, err := simulate.Resample(s, time.Duration(to)*time.Second)
		if bad := from == 0 || to == 0 || first < 0; bad != (err != nil) {
			t.Fatalf("error %v, want one: %v", err, bad)
		}
		if err != nil {
			return
		}
		for i, v := range got.Values {
			if !(v >= low-1e-9 && v <= high+1e-9) {
				t.Fatalf("%v beyond what was observed, %v to %v", v, low, high)
			}
			if at := got.TimeAt(i).Sub(s.Start); at%s.Step == 0 {
				want := s.Values[at/s.Step]
				if !math.IsNaN(want) && math.Abs(v-want) > 1e-9 {
					t.Fatalf("%v at %s, want %v", v, at, want)
				}
			}
		}
	})
}
