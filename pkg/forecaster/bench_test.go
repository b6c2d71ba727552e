package forecaster_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/forecaster"
)

// noisy is a day cycle with bursts and noise that depend on the time alone.
func noisy(t time.Time) float64 {
	minute := float64(t.Unix() / 60)
	hash := math.Mod(math.Abs(math.Sin(minute*12.9898))*43758.5453, 1)
	burst := math.Max(0, math.Sin(minute/97)-0.9) * 600
	return math.Max(0, 100+60*math.Sin(2*math.Pi*minute/1440)+burst+20*(hash-0.5))
}

// BenchmarkRebuild steps through 14 days: by the minute and by the server's default step, for a quantile and an objective.
// Beside the time it reports the memory that stays.
func BenchmarkRebuild(b *testing.B) {
	for _, step := range []time.Duration{time.Minute, 30 * time.Second} {
		h := forecaster.History{Series: forecast.Series{
			Start: start, Step: step, Values: make([]float64, int(14*24*time.Hour/step)),
		}}
		for i := range h.Values {
			h.Values[i] = noisy(h.TimeAt(i))
		}
		c := forecaster.Config{
			Step: step, Window: 375 * time.Second, Policy: decide.Policy{Quantile: 0.95, Lead: 5 * time.Minute},
		}
		asked := c
		asked.Policy = decide.Policy{Late: 0.01, Target: 10, Lead: 5 * time.Minute}
		asked.Scalings = []decide.Scaling{{By: "spec.scaling", HPA: stock(10)}}
		for name, c := range map[string]forecaster.Config{"quantile": c, "objective": asked} {
			b.Run(step.String()+"/"+name, func(b *testing.B) {
				var kept *forecaster.Forecaster
				before := liveBytes()
				for b.Loop() {
					kept = forecaster.New(c, h)
				}
				b.ReportMetric(float64(liveBytes()-before)/1000, "kB")
				runtime.KeepAlive(kept)
			})
		}
	}
}

func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
