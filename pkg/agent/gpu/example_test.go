package gpu_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// A GPU is idle for 28 s and busy for 2 s: as one sample of each, or as many.
func ExampleWindow() {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	w := gpu.NewWindow(30*time.Second, time.Minute)
	w.Add(noon, 0)
	w.Add(noon.Add(28*time.Second), 0)
	w.Add(noon.Add(30*time.Second), 0.9)
	s := w.Summary(noon.Add(30 * time.Second))
	fmt.Printf("mean %.2f, max %.2f, 95th percentile %.2f\n", s.Mean, s.Max, s.P95)
	// Output: mean 0.06, max 0.90, 95th percentile 0.90
}
