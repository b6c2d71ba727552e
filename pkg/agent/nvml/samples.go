//go:build cgo

package nvml

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

const (
	// maxClockSkew is how far in the future a sample's time may lie; beyond that it is invalid.
	maxClockSkew = 10 * time.Second
	// maxOvershoot is how many percent above 100 a counter of a fully busy device may read.
	maxOvershoot = 5
)

// lastSeen is the time of the newest sample that was read from a buffer of the driver, in microseconds; 0 reads all.
type lastSeen uint64

// since is the time to read from. After a clock was set back the last sample lies in the future: then all are read.
func (s lastSeen) since(now time.Time) uint64 {
	if microseconds(now.Add(maxClockSkew)) < uint64(s) {
		return 0
	}
	return uint64(s)
}

// isNew reports whether a sample is newer than since and has a valid time.
func isNew(stamp, since uint64, now time.Time) bool {
	return stamp != 0 && stamp > since && stamp <= microseconds(now.Add(maxClockSkew))
}

func microseconds(t time.Time) uint64 { return uint64(max(t.UnixMicro(), 0)) }

// samples reads a buffer's samples since the last reading.
func (l *deviceReading) samples(kind gonvml.SamplingType, last *lastSeen) []gpu.Sample {
	if l.fault != nil {
		return nil
	}
	since := last.since(l.now)
	unit, raw, answer := l.device.GetSamples(kind, since)
	if !l.succeeded("nvmlDeviceGetSamples", answer) {
		return nil
	}
	out, newest := trim(unit, raw, since, l.now)
	*last = lastSeen(newest)
	return out
}

// trim converts raw samples: sorted, each time once, without those that are empty, old or impossible. It also returns
// the time of the newest.
func trim(unit gonvml.ValueType, raw []gonvml.Sample, since uint64, now time.Time) ([]gpu.Sample, uint64) {
	out, newest := make([]gpu.Sample, 0, len(raw)), since
	for _, s := range raw {
		if !isNew(s.TimeStamp, since, now) {
			continue
		}
		newest = max(newest, s.TimeStamp)
		if r, ok := ratio(number(unit, s.SampleValue)); ok {
			out = append(out, gpu.Sample{Time: time.UnixMicro(int64(s.TimeStamp)), Ratio: r})
		}
	}
	slices.SortStableFunc(out, func(a, b gpu.Sample) int { return a.Time.Compare(b.Time) })
	return slices.CompactFunc(out, func(a, b gpu.Sample) bool { return a.Time.Equal(b.Time) }), newest
}

// number reads NVML's union of number types; NaN for an unknown type.
func number(unit gonvml.ValueType, raw [8]byte) float64 {
	order := binary.NativeEndian
	switch unit {
	case gonvml.VALUE_TYPE_DOUBLE:
		return math.Float64frombits(order.Uint64(raw[:]))
	case gonvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(order.Uint32(raw[:]))
	case gonvml.VALUE_TYPE_UNSIGNED_LONG, gonvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(order.Uint64(raw[:]))
	case gonvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(order.Uint64(raw[:]))) //nolint:gosec // These bits are a signed number.
	case gonvml.VALUE_TYPE_SIGNED_INT:
		return float64(int32(order.Uint32(raw[:]))) //nolint:gosec // Likewise.
	case gonvml.VALUE_TYPE_UNSIGNED_SHORT:
		return float64(order.Uint16(raw[:]))
	default:
		return math.NaN()
	}
}

// ratio converts a percentage into a share, 0 … 1, and reports whether it is valid.
func ratio(percent float64) (float64, bool) {
	if !(percent >= 0 && percent <= 100+maxOvershoot) { // NaN too
		return 0, false
	}
	return min(percent/100, 1), true
}
