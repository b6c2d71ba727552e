package demand_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// A leader with a wrong clock writes wrong times. Once the clock is right again, the record is right from then on.
func TestClockSteps(t *testing.T) {
	for _, off := range []time.Duration{
		-time.Second, time.Second, time.Hour, -time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour,
	} {
		for _, before := range []bool{false, true} {
			for _, after := range []bool{false, true} {
				var r demand.ZeroPeriods
				r = observed(r, before, 0)
				r = observed(r, !before, time.Minute+off)
				r = observed(r, after, 2*time.Minute)
				for _, at := range []time.Duration{3 * time.Minute, 15 * time.Minute} {
					if got := r.At(midnight().Add(at)); got != after {
						t.Errorf("%v, %v with a clock %s off, then %v: %s later %v", before, !before, off, after, at,
							got)
					}
				}
				if _, err := demand.NewZeroPeriods(r.Changes()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
