package explain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// FuzzExplain: whatever the numbers, there is an error or an explanation that JSON can hold, within the HPA's bounds.
func FuzzExplain(f *testing.F) {
	f.Add(int32(12), int32(12), int64(173_000), int64(10_000), int32(1), int32(20), false, 0.1, int32(60))
	f.Add(int32(0), int32(0), int64(-1), int64(1), int32(0), int32(1<<31-1), true, 0.0, int32(0))
	f.Add(int32(1<<31-1), int32(1), int64(1<<63-1), int64(1), int32(1), int32(1<<31-1), false, 1e300, int32(1800))
	f.Fuzz(func(t *testing.T, replicas, existing int32, value, target int64, least, most int32, byValue bool,
		tolerance float64, window int32,
	) {
		s := inputOf(replicas, 0, withForecast(func(f *explain.Forecast) {
			f.Observed, f.Served, f.Peak = float64(value), float64(value)*tolerance, float64(target)
			f.Lead = time.Duration(window) * time.Second
			f.Steepest = explain.Rise{From: float64(target), To: float64(value)}
		}), withBehavior(func(b *hpa.Behavior) {
			b.Down.Stabilization = time.Duration(window) * time.Second
			b.Up.Tolerance = &tolerance
			b.Up.Policies[0].Value = existing
		}))
		s.Scale.Existing, s.Metrics[0].Reading.Values = existing, []int64{value}
		s.Spec.Min, s.Spec.Max, s.Spec.Cluster.ScaleToZero = least, most, least == 0
		s.Spec.Metrics[0].Target = target
		if byValue {
			s.Spec.Metrics[0].Type = hpa.Value
		}
		e, err := explain.Explain(s)
		if err != nil {
			return
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatal(err)
		}
		if d := *e.Desired; d < 0 || d > most && d != replicas {
			t.Errorf("%d replicas of %d to %d", d, least, most)
		}
		if text := strings.Join(e.Sentences, "\n"); strings.Contains(text, "%!") {
			t.Error(text)
		}
	})
}
