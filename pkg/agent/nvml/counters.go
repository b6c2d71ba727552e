//go:build cgo

package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// closest is how far apart two looks at the counters must be: the device refreshes them every 100 ms.
const closest = 100 * time.Millisecond

// counters are two looks at the performance counters (GPM) of a device or a MIG instance. What happened between them is a
// difference, so nothing between two readings is lost.
type counters struct {
	before, next gonvml.GpmSample
	// taken is when before was filled; zero while it was not.
	taken time.Time
}

func (c *counters) free(library gonvml.Interface) {
	for _, s := range []gonvml.GpmSample{c.before, c.next} {
		if s != nil {
			//nolint:errcheck // A library that does not take it back is not asked for it again.
			library.GpmSampleFree(s)
		}
	}
	*c = counters{}
}

// askForCounters finds out once whether a device has counters.
func (c *card) askForCounters(l *look) {
	if c.asked || !l.can.gpm || l.fault != nil {
		return
	}
	support, answer := l.library.GpmQueryDeviceSupport(l.device)
	c.counting = l.took("nvmlGpmQueryDeviceSupport", answer) && support.IsSupportedDevice != 0
	c.asked = l.fault == nil
}

// count looks at the counters of a device or an instance and says what they did since the look before. There is nothing to say
// at the first look, and too soon after another.
func (c *card) count(l *look, id int, get func(gonvml.GpmSample) gonvml.Return) gpu.Use {
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
	if !own.taken.IsZero() && apart >= 0 && apart <= closest {
		return gpu.Use{}
	}
	if !l.took("nvmlGpmSampleGet", get(own.next)) {
		// A device that was reset meanwhile counts from 0 again.
		own.taken = time.Time{}
		return gpu.Use{}
	}
	var out gpu.Use
	if !own.taken.IsZero() && apart > closest {
		out = l.difference(own)
	}
	own.before, own.next, own.taken = own.next, own.before, l.now
	return out
}

func (l *look) allocate() *counters {
	first, answer := l.library.GpmSampleAlloc()
	if !l.took("nvmlGpmSampleAlloc", answer) {
		return nil
	}
	second, answer := l.library.GpmSampleAlloc()
	if !l.took("nvmlGpmSampleAlloc", answer) {
		l.library.GpmSampleFree(first) //nolint:errcheck // Likewise.
		return nil
	}
	return &counters{before: first, next: second}
}

// difference asks for the metrics between two looks.
func (l *look) difference(own *counters) gpu.Use {
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
	if !l.took("nvmlGpmMetricsGet", l.library.GpmMetricsGet(ask)) {
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
