package collect_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
)

// BenchmarkStep is what a step costs beside the driver and the kubelet, with a whole hour recorded: every fifth second on a node.
// heap-MB is all that lives then.
func BenchmarkStep(b *testing.B) {
	for _, test := range []struct {
		name string
		node *node
	}{
		{"8 GPUs of 7 instances", migGPUs(8)},
		{"8 GPUs of 10 processes", sharedGPUs(8, 10)},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := begin(b, test.node, collect.Hour{})
			s.t = b
			for range 720 {
				s.Step(b.Context(), s.now)
				s.now = s.now.Add(5 * time.Second)
			}
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportAllocs()
			for b.Loop() {
				s.Step(b.Context(), s.now)
				s.now = s.now.Add(5 * time.Second)
			}
			b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "heap-MB")
			// A step every five seconds.
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/5*100, "%core")
			if n := len(s.Board().Load().Pods); n < 56 {
				b.Fatal(fmt.Sprint(n, " pods"))
			}
		})
	}
}
