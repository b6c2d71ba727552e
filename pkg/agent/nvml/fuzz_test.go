//go:build cgo

package nvml_test

import (
	"encoding/binary"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

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
