//go:build cgo

package nvml_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"

	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

// FuzzSamples: whatever a driver writes into its buffers, the samples are shares, in order, new, and not of the future.
func FuzzSamples(f *testing.F) {
	now := uint64(start.UnixMicro())
	entry := func(stamp, value uint64) []byte {
		return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, stamp), value)
	}
	f.Add(int32(gonvml.VALUE_TYPE_UNSIGNED_INT), uint64(0), append(entry(now-5, 40), entry(now-9, 80)...))
	f.Add(int32(gonvml.VALUE_TYPE_DOUBLE), now-7, append(entry(now, 0x4059000000000000), entry(0, 1)...))
	f.Add(int32(gonvml.VALUE_TYPE_SIGNED_INT), now, entry(1<<63, 1<<63))
	f.Fuzz(func(t *testing.T, unit int32, since uint64, data []byte) {
		var raw []gonvml.Sample
		var used []gonvml.ProcessUtilizationSample
		for ; len(data) >= 16; data = data[16:] {
			s := gonvml.Sample{TimeStamp: binary.NativeEndian.Uint64(data)}
			copy(s.SampleValue[:], data[8:])
			raw = append(raw, s)
			used = append(used, gonvml.ProcessUtilizationSample{
				Pid: uint32(data[8]), TimeStamp: s.TimeStamp,
				SmUtil: binary.NativeEndian.Uint32(data[8:]), MemUtil: binary.NativeEndian.Uint32(data[12:]),
			})
		}
		samples, newest := nvml.Trim(gonvml.ValueType(unit), raw, since, start)
		if newest < since {
			t.Errorf("goes back from %d to %d", since, newest)
		}
		before := time.UnixMicro(int64(min(since, 1<<62)))
		for _, s := range samples {
			if !(s.Ratio >= 0 && s.Ratio <= 1) || !s.Time.After(before) || s.Time.Sub(start) > time.Minute {
				t.Fatalf("%v after %v", s, before)
			}
			before = s.Time
		}
		processes, newest := nvml.Usage(used, since, start)
		if newest < since {
			t.Errorf("processes go back from %d to %d", since, newest)
		}
		for pid, p := range processes {
			if pid == 0 || !(p.Busy >= 0 && p.Busy <= 1) || !(p.Bandwidth >= 0 && p.Bandwidth <= 1) {
				t.Fatalf("process %+v", p)
			}
		}
	})
}

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
