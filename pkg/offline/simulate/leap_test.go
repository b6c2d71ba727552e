package simulate_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// After a launch or a leap of the demand, quantiles are calibrated within hours: scores are kept in a unit that survives it.
// Pooled over twenty seeds, the 0.95 quantile covers .90 to .98 of the lead windows in the hours 3 to 24.
func TestLeapsAreCalibratedWithinHours(t *testing.T) {
	if testing.Short() || os.Getenv(long) == "" {
		t.Skip("120 launches and leaps: set FOREWARM_LONG, and no -short")
	}
	const (
		step, seeds = demandtest.Step, 20
		hour        = int(time.Hour / step)
		from, to    = 3 * hour, 24 * hour
	)
	for _, c := range []struct {
		name          string
		before, after float64
		idle          int // hours
	}{
		{"a launch after two hours at 0", 0, 1450, 2},
		{"a launch after a day at 0", 0, 1450, 24},
		{"a launch after two hours at 14.5", 14.5, 1450, 2},
		{"a leap to ten times", 150, 1500, 48},
		{"a fall to a tenth", 1500, 150, 48},
		{"a leap to twice", 750, 1500, 48},
	} {
		within, all := 0, 0
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 18))
			values := make([]float64, c.idle*hour+to+hour)
			wave := 0.0
			for i := range values {
				wave = 0.95*wave + 0.01*rng.NormFloat64() // 3 % in all.
				level := c.before
				if i >= c.idle*hour {
					level = c.after
				}
				values[i] = level * math.Max(0, 1+wave+0.02*rng.NormFloat64())
			}
			f := simulate.NewForewarm(forecaster.Config{
				Step: step, Window: 375 * time.Second, Rate: true,
				Settings: decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute, Mode: decide.Forecast},
			})
			const window = 13
			minute := func(i int) float64 { return (values[i] + values[i-1]) / 2 }
			for i := range values[:len(values)-window] {
				served := f.Serve(simulate.Observation{
					At: demandtest.Start().Add(time.Duration(i) * step), Demand: values[i], Arrived: values[i],
				})
				if since := i - c.idle*hour; since < from || since >= to {
					continue
				}
				peak := 0.0
				for j := i + 1; j <= i+window; j++ {
					peak = max(peak, minute(j))
				}
				all++
				if peak <= served {
					within++
				}
			}
		}
		covered := float64(within) / float64(all)
		t.Logf("%s: %.3f", c.name, covered)
		if !(covered >= 0.90 && covered <= 0.98) {
			t.Errorf("%s: the 0.95 quantile covers %.3f of the windows in the hours 3 to 24, want .90 to .98", c.name,
				covered)
		}
	}
}
