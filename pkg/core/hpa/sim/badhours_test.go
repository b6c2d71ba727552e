package sim_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Clock hours are judged, whatever the step and the start, and those of which a part is missing are not.
func TestBadHours(t *testing.T) {
	midnight := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		step  time.Duration
		start time.Time
		steps int
		// late is the share that is late in the step that begins at a time, −1 for a gap.
		late  func(at time.Time) float64
		hours int
		bad   []int
	}{
		"a bad hour": {time.Minute, midnight, 180, func(at time.Time) float64 {
			if at.Hour() == 1 && at.Minute() < 7 {
				return 1
			}
			return 0
		}, 3, []int{1}},
		"a tenth is not bad": {time.Minute, midnight, 60, func(at time.Time) float64 {
			if at.Minute() < 6 {
				return 1
			}
			return 0
		}, 1, nil},
		"a start within an hour": {time.Minute, midnight.Add(30 * time.Minute), 60 + 45, func(time.Time) float64 { return 1 }, 1, []int{1}},
		"a gap": {time.Minute, midnight, 120, func(at time.Time) float64 {
			if at.Hour() == 0 && at.Minute() == 59 {
				return -1
			}
			return 1
		}, 1, []int{1}},
		"steps of 7 m": {7 * time.Minute, midnight, 60, func(time.Time) float64 { return 0.5 }, 7, []int{0, 1, 2, 3, 4, 5, 6}},
		"steps of 1 h": {time.Hour, midnight, 3, func(time.Time) float64 { return 0.2 }, 3, []int{0, 1, 2}},
	} {
		var b sim.BadHours
		for i := range c.steps {
			at := c.start.Add(time.Duration(i) * c.step)
			if late := c.late(at); late >= 0 {
				b.Add(at.Add(c.step), c.step, 10, 10*late)
			}
		}
		var bad []int
		for _, h := range b.List {
			bad = append(bad, int(h.Start.Sub(midnight).Hours()))
		}
		if b.Hours != c.hours || len(bad) != len(c.bad) {
			t.Errorf("%s: %d hours, bad %v; want %d, %v", name, b.Hours, bad, c.hours, c.bad)
			continue
		}
		for i := range bad {
			if bad[i] != c.bad[i] {
				t.Errorf("%s: bad %v, want %v", name, bad, c.bad)
			}
		}
	}
}
