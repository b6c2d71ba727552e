//go:build cgo

package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// minCounterGap is the least time between two samples of the counters: the device refreshes them every 100 ms.
const minCounterGap = 100 * time.Millisecond

// counters are two samples of the performance counters (GPM) of a device or a MIG instance. A metric is computed from
// their difference, so nothing between two readings is lost.
type counters struct {
	before, next gonvml.GpmSample
	// taken is when before was filled; zero while it was not.
	taken time.Time
}

func (c *counters) free(library gonvml.Interface) {
	for _, s := range []gonvml.GpmSample{c.before, c.next} {
		if s != nil {
			//nolint:errcheck // There is nothing to do about a failure.
			library.GpmSampleFree(s)
		}
	}
	*c = counters{}
}

// detectCounters reads once whether a device has counters.
func (c *card) detectCounters(l *deviceReading) {
	if c.countersDetected || !l.can.gpm || l.fault != nil {
		return
	}
	support, answer := l.library.GpmQueryDeviceSupport(l.device)
	c.hasCounters = l.succeeded("nvmlGpmQueryDeviceSupport", answer) && support.IsSupportedDevice != 0
	c.countersDetected = l.fault == nil
}

// count samples the counters of a device or an instance and returns its use since the last sample. The first sample has
// none, nor does one that is too close to the last.
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
	if !l.succeeded("nvmlGpmSampleGet", get(own.next)) {
		// A device that was reset meanwhile counts from 0 again.
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
	first, answer := l.library.GpmSampleAlloc()
	if !l.succeeded("nvmlGpmSampleAlloc", answer) {
		return nil
	}
	second, answer := l.library.GpmSampleAlloc()
	if !l.succeeded("nvmlGpmSampleAlloc", answer) {
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
	if !l.succeeded("nvmlGpmMetricsGet", l.library.GpmMetricsGet(ask)) {
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
