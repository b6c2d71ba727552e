//go:build cgo

package nvml_test

import (
	"fmt"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
)

// crowded is eight H100s that are cut into seven instances each, or have ten processes each and a buffer of six samples a second.
func crowded(cut bool) *node {
	n := onto(dgxh100.New())
	for i, d := range n.devices {
		d.counts = true
		if cut {
			d.MigMode = gonvml.DEVICE_MIG_ENABLE
			for j := range 7 {
				d.parts = append(d.parts,
					part(fmt.Sprintf("MIG-%d-%d", i, j), "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 7+j, 1, 1))
			}
			continue
		}
		for j := range 10 {
			pid := uint32(1000 + 10*i + j)
			d.running = append(d.running, gonvml.ProcessInfo{Pid: pid, UsedGpuMemory: 1 << 30})
			d.used = append(d.used,
				gonvml.ProcessUtilizationSample{Pid: pid, TimeStamp: uint64(start.UnixMicro()), SmUtil: 8})
		}
		for j := range 120 {
			at := start.Add(time.Duration(j) * time.Second / 6)
			d.busy, d.bandwidth = append(d.busy, sample(at, 80)), append(d.bandwidth, sample(at, 50))
		}
	}
	return n
}

// BenchmarkRead is what a reading costs on this side of the driver. The mocks record every call, which a driver does not, and
// what a driver does in a call is not here.
func BenchmarkRead(b *testing.B) {
	for _, cut := range []bool{true, false} {
		b.Run(map[bool]string{true: "8 GPUs of 7 instances", false: "8 GPUs of 10 processes"}[cut], func(b *testing.B) {
			n := crowded(cut)
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
