package forecaster_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// FuzzStep feeds arbitrary samples, gaps, bounds and magnitudes.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 1, 2, 255, 200, 7}, byte(0))
	f.Add([]byte{0, 1, 2, 255, 200, 7, 7, 7, 7, 9, 9, 9, 9, 9, 9}, byte(2))
	f.Fuzz(func(t *testing.T, samples []byte, bounds byte) {
		values := make([]float64, 0, len(samples))
		for _, b := range samples[:min(len(samples), 400)] {
			switch {
			case b == 255:
				values = append(values, gap)
			case b > 240:
				values = append(values, math.Pow(10, float64(b)-240))
			default:
				values = append(values, float64(b))
			}
		}
		half := len(values) / 2
		all := forecaster.History{
			Series:    forecast.Series{Start: start, Step: step, Values: values},
			Saturated: func(at time.Time) bool { return int(at.Sub(start)/step)%11 < int(bounds%12) },
		}
		first := all
		first.Series = all.Slice(0, half)
		fc := forecaster.New(config(), first)
		twin := fc.Clone()
		for i := half; i < len(values); i++ {
			fc.Step(all.Reading(i))
			checkEntry(t, "fuzz", describe(fc), fc)
		}
		for i := half; i < len(values); i++ {
			twin.Step(all.Reading(i))
		}
		if diff := difference(fc, twin); diff != "" {
			t.Errorf("a clone is another (-original +clone)\n%s", diff)
		}
	})
}
