//go:build cgo

package nvml_test

import (
	"fmt"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
)

// BenchmarkRead is what a reading of eight H100s costs on this side of the driver: cut into seven instances each, or with ten
// processes each and a buffer of six samples a second. The mocks record every call, which a driver does not.
func BenchmarkRead(b *testing.B) {
	for _, cut := range []bool{true, false} {
		n := onto(dgxh100.New())
		for _, d := range n.devices {
			d.counts = true
			for j := range 7 {
				if cut {
					d.MigMode = gonvml.DEVICE_MIG_ENABLE
					d.parts = append(d.parts, part(fmt.Sprint("MIG-", d.UUID, j), "H100 MIG 1g.10gb", 7+j, 1, 1))
				}
			}
			for pid := uint32(1); pid <= 10; pid++ {
				d.running = append(d.running, gonvml.ProcessInfo{Pid: pid, UsedGpuMemory: 1 << 30})
				d.used = append(d.used,
					gonvml.ProcessUtilizationSample{Pid: pid, TimeStamp: uint64(start.UnixMicro()), SmUtil: 8})
			}
			for j := range 120 {
				at := start.Add(time.Duration(j) * time.Second / 6)
				d.busy, d.bandwidth = append(d.busy, sample(at, 80)), append(d.bandwidth, sample(at, 50))
			}
		}
		b.Run(map[bool]string{true: "8 GPUs of 7 instances", false: "8 GPUs of 10 processes"}[cut], func(b *testing.B) {
			r, now := n.reader(), start
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(5 * time.Second)
				if got := r.Read(now); len(got.GPUs) != 8 || got.Fault != nil {
					b.Fatal(got.Fault)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/5*100, "%core")
		})
	}
}
