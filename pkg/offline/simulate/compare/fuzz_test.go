package compare_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// Whatever the step, the magnitude and maxReplicas, a comparison ends with numbers. A demand of bytes with a target of requests takes no
// more memory than another: levels that nothing can reach are not followed.
func FuzzStepsAndMagnitudes(f *testing.F) {
	f.Add(uint32(345), int8(2), int32(100))
	f.Add(uint32(60), int8(12), int32(100))
	f.Add(uint32(60), int8(15), int32(math.MaxInt32))
	f.Add(uint32(7), int8(-9), int32(1))
	f.Add(uint32(2419), int8(9), int32(math.MaxInt32))
	f.Add(uint32(3600), int8(0), int32(3))
	f.Fuzz(func(t *testing.T, step uint32, exponent int8, most int32) {
		s := forecast.Series{Start: start(), Step: time.Duration(step%86_400+1) * time.Second}
		scale := math.Pow(10, float64(exponent%16))
		for at := time.Duration(0); at < 30*time.Hour && s.Len() < 10_000; at += s.Step {
			s.Values = append(s.Values, scale*(1+.4*math.Sin(at.Hours()/24*2*math.Pi)))
		}
		c := config(s)
		c.HPA.Max, c.Only = max(most, 1), []string{compare.HPA, compare.Forewarm}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := compare.Compare(t.Context(), c, nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			return // It is refused, in words.
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Errorf("%d MiB were allocated", used>>20)
		}
		for i := range got.Policies {
			p := &got.Policies[i]
			for name, v := range map[string]float64{
				"replica-hours": p.Report.ReplicaHours, "late": p.Report.LateShare(), "dropped": p.Report.DroppedShare(),
			} {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Errorf("%s: %s %v", p.Name, name, v)
				}
			}
		}
	})
}
