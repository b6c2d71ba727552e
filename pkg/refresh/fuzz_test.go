package refresh_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/pkg/core/decide"
)

// FuzzServed plays any history to the loop: whatever was demanded, and whatever is asked for, no value that is served is more
// than the history justifies, and none is negative or no number.
func FuzzServed(f *testing.F) {
	for seed := range uint64(8) {
		m := makeHistory(seed)
		f.Add(modeltest.Fuzz(m.values[m.event-24:]), 0.95, 0.0, uint8(seed))
	}
	odd := []float64{1, 1, 1, 1, 1, math.Inf(1), 1e15, 1e300, -1, math.NaN(), 0, 5e-324}
	f.Add(modeltest.Fuzz(odd), 0.5, 7.0, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, quantile, target float64, kind uint8) {
		const least = 4 * corroboration
		m := syntheticHistory{
			name: "fuzzed", kind: wild, models: []string{"ses", "holt-winters"}, capacity: 1 << 30,
			settings: decide.Settings{Quantile: min(max(quantile, 0.5), 0.995), Lead: 5 * time.Minute},
		}
		m.settings.Mode = []decide.Mode{decide.Floor, decide.Forecast, decide.Shadow}[kind%3]
		if target >= 0.001 && target < 1e12 {
			m.target, m.settings.Target = target, target
		}
		if !(quantile >= 0) {
			m.settings.Quantile = 0.95
		}
		hold := 1 + int(kind/3)%4 // A level must last to be believed.
		for _, v := range modeltest.Values(data) {
			for range hold {
				m.values = append(m.values, float64(float32(v))) // As the store keeps it.
			}
		}
		if len(m.values) <= least {
			t.Skip("too short to serve anything")
		}
		const played = 10 // Steps that are served; what was before is history.
		m.event, m.over = max(least, len(m.values)-played), len(m.values)
		m.checkFaces(t)
	})
}
