//go:build cgo

package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// card is a GPU's state between two readings.
type card struct {
	uuid, model string
	index       int
	// minor is the number of its device file; -1 if it is unknown.
	minor int

	busy, bandwidth, processes lastSeen

	// slices is how many slices the device can be divided into; 0 until it is read.
	slices int
	// hasCounters reports whether the device has performance counters (GPM), once countersDetected is true.
	countersDetected, hasCounters bool
	// counters has the counters of each GPU instance; whole is the key of the device itself.
	counters map[int]*counters
}

const whole = -1

func newCard(uuid string, index int) *card {
	return &card{uuid: uuid, index: index, minor: -1, counters: map[int]*counters{}}
}

// release frees what belongs to the library, before it is closed.
func (c *card) release(library gonvml.Interface) {
	for id, own := range c.counters {
		own.free(library)
		delete(c.counters, id)
	}
	c.countersDetected, c.hasCounters, c.slices = false, false, 0
}

// read reads everything of a device.
func (c *card) read(library gonvml.Interface, device gonvml.Device, can capabilities, now time.Time) gpu.GPU {
	l := &deviceReading{library: library, device: device, can: can, now: now}
	if model, ok := call(l, "nvmlDeviceGetName", device.GetName); ok {
		c.model = printable(model)
	}
	if minor, ok := call(l, "nvmlDeviceGetMinorNumber", device.GetMinorNumber); ok {
		c.minor = minor
	}
	out := c.named()
	out.Memory = l.memory(device)
	c.detectCounters(l)
	if can.mig && l.migEnabled() {
		out.Instances = c.instances(l)
	} else {
		out.Processes = c.listProcesses(l)
		c.use(l, &out.Use)
	}
	if out.Fault = l.finalFault(&out); out.Fault == nil {
		out.Incomplete = l.minor
	}
	return out
}

// miss records that the card was not read: its counters must not be compared across the gap.
func (c *card) miss() {
	for _, own := range c.counters {
		own.taken = time.Time{}
	}
}

// named returns what is known about the card without a reading.
func (c *card) named() gpu.GPU {
	return gpu.GPU{UUID: c.uuid, Index: c.index, Minor: c.minor, Model: c.model}
}

// use reads the use of a device without MIG.
func (c *card) use(l *deviceReading, out *gpu.Use) {
	out.Busy = l.samples(gonvml.GPU_UTILIZATION_SAMPLES, &c.busy)
	// This is read in any case, because a device may have no counters.
	touched := l.samples(gonvml.MEMORY_UTILIZATION_SAMPLES, &c.bandwidth)
	if !c.hasCounters {
		out.Bandwidth = touched
		return
	}
	counted := c.count(l, whole, func(into gonvml.GpmSample) gonvml.Return {
		return l.library.GpmSampleGet(l.device, into)
	})
	out.Bandwidth, out.Tensor = counted.Bandwidth, counted.Tensor
	if len(out.Busy) == 0 {
		out.Busy = counted.Busy
	}
}

// memory returns the memory of a device or an instance. If the driver reports its own reserve separately, Used excludes the reserve, like
// in nvidia-smi.
func (l *deviceReading) memory(device gonvml.Device) gpu.Memory {
	if l.fault != nil {
		return gpu.Memory{}
	}
	if l.can.memory2 {
		if m, ok := call(l, "nvmlDeviceGetMemoryInfo_v2", device.GetMemoryInfo_v2); ok {
			return gpu.Memory{Used: m.Used, Total: m.Total}
		}
	}
	if m, ok := call(l, "nvmlDeviceGetMemoryInfo", device.GetMemoryInfo); ok {
		return gpu.Memory{Used: m.Used, Total: m.Total}
	}
	return gpu.Memory{}
}
