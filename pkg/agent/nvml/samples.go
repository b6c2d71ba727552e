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
	// maxClockSkew is how far in the future a sample's time may be; beyond that, it is invalid.
	maxClockSkew = 10 * time.Second
	// maxOvershoot is how many percent above 100 a counter of a fully busy device may read.
	maxOvershoot = 5
)

// lastSeen is the time of the newest sample that was read from a buffer of the driver, in microseconds; 0 reads all.
type lastSeen uint64

// since returns the time to read from. After the clock was set back, the last sample is in the future, and all samples are read.
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
	var unit gonvml.ValueType
	raw, ok := call(l, "nvmlDeviceGetSamples", func() (raw []gonvml.Sample, answer gonvml.Return) {
		unit, raw, answer = l.device.GetSamples(kind, since)
		return raw, answer
	})
	if !ok {
		return nil
	}
	out, newest := trim(unit, raw, since, l.now)
	*last = lastSeen(newest)
	return out
}

// trim converts raw samples. The result is sorted, has each time once, and has no empty, old or impossible samples. newest is the newest
// time.
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

// ratio converts a percentage to a share from 0 to 1, and reports whether it is valid.
func ratio(percent float64) (float64, bool) {
	if !(percent >= 0 && percent <= 100+maxOvershoot) { // NaN too
		return 0, false
	}
	return min(percent/100, 1), true
}

// minCounterGap is the minimum time between two samples of the counters, because the device refreshes them every 100 ms.
const minCounterGap = 100 * time.Millisecond

// counters are two samples of the performance counters (GPM) of a device or a MIG instance. A metric is computed from
// their difference, so nothing between two readings is lost.
type counters struct {
	before, next gonvml.GpmSample
	// taken is when before was filled; zero if it is not filled.
	taken time.Time
}

func (c *counters) free(library gonvml.Interface) {
	for _, s := range []gonvml.GpmSample{c.before, c.next} {
		if s != nil {
			library.GpmSampleFree(s) //nolint:errcheck // There is nothing to do about a failure.
		}
	}
	*c = counters{}
}

// detectCounters reads once whether a device has counters.
func (c *card) detectCounters(l *deviceReading) {
	if c.countersDetected || !l.can.gpm || l.fault != nil {
		return
	}
	support, ok := call(l, "nvmlGpmQueryDeviceSupport", func() (gonvml.GpmSupport, gonvml.Return) {
		return l.library.GpmQueryDeviceSupport(l.device)
	})
	c.hasCounters = ok && support.IsSupportedDevice != 0
	c.countersDetected = l.fault == nil
}

// count samples the counters of a device or an instance, and returns its use since the last sample. The use is unknown for the first
// sample, and for a sample that is too close to the last one.
func (c *card) count(l *deviceReading, id int, get func(gonvml.GpmSample) gonvml.Return) gpu.Use {
	if l.fault != nil {
		return gpu.Use{}
	}
	own, found := c.counters[id]
	if !found {
		if own = l.allocate(); own == nil {
			return gpu.Use{}
		}
		c.counters[id] = own
	}
	apart := l.now.Sub(own.taken)
	if !own.taken.IsZero() && apart >= 0 && apart <= minCounterGap {
		return gpu.Use{}
	}
	if !done(l, "nvmlGpmSampleGet", func() gonvml.Return { return get(own.next) }) {
		// A device that was reset in the meantime counts from 0 again.
		own.taken = time.Time{}
		return gpu.Use{}
	}
	var out gpu.Use
	if !own.taken.IsZero() && apart > minCounterGap {
		out = l.difference(own)
	}
	own.before, own.next, own.taken = own.next, own.before, l.now
	return out
}

func (l *deviceReading) allocate() *counters {
	first, ok := call(l, "nvmlGpmSampleAlloc", l.library.GpmSampleAlloc)
	if !ok {
		return nil
	}
	second, ok := call(l, "nvmlGpmSampleAlloc", l.library.GpmSampleAlloc)
	if !ok {
		l.library.GpmSampleFree(first) //nolint:errcheck // Likewise.
		return nil
	}
	return &counters{before: first, next: second}
}

// difference computes the metrics between two samples.
func (l *deviceReading) difference(own *counters) gpu.Use {
	var out gpu.Use
	wanted := []struct {
		metric gonvml.GpmMetricId
		to     *[]gpu.Sample
	}{
		{gonvml.GPM_METRIC_GRAPHICS_UTIL, &out.Busy},
		{gonvml.GPM_METRIC_DRAM_BW_UTIL, &out.Bandwidth},
		{gonvml.GPM_METRIC_ANY_TENSOR_UTIL, &out.Tensor},
	}
	ask := &gonvml.GpmMetricsGetType{Sample1: own.before, Sample2: own.next, NumMetrics: uint32(len(wanted))}
	for i, w := range wanted {
		ask.Metrics[i].MetricId = uint32(w.metric)
	}
	if !done(l, "nvmlGpmMetricsGet", func() gonvml.Return { return l.library.GpmMetricsGet(ask) }) {
		return gpu.Use{}
	}
	for i, w := range wanted {
		got := ask.Metrics[i]
		if r, ok := ratio(got.Value); ok && gonvml.Return(got.NvmlReturn) == gonvml.SUCCESS {
			*w.to = []gpu.Sample{{Time: l.now, Ratio: r}}
		}
	}
	return out
}
