package collect_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
)

// BenchmarkStep is what a step costs in addition to the driver and the kubelet, with a whole hour recorded: every fifth second on a node.
// rss-MB is the memory of the process then, with what a test brings along.
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
			for range 720 {
				s.Step(b.Context(), s.now)
				s.now = s.now.Add(5 * time.Second)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Step(b.Context(), s.now)
				s.now = s.now.Add(5 * time.Second)
			}
			var virtual, resident int
			text, _ := os.ReadFile("/proc/self/statm") //nolint:errcheck // It is not there on every system.
			if _, err := fmt.Sscan(string(text), &virtual, &resident); err == nil {
				b.ReportMetric(float64(resident*os.Getpagesize())/(1<<20), "rss-MB")
			}
			// A step every five seconds.
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/5*100, "%core")
			if n := len(s.Board().Load().Pods); n < 56 {
				b.Fatal(fmt.Sprint(n, " pods"))
			}
		})
	}
}
