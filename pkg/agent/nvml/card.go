//go:build cgo

package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// card is what is kept of a GPU between two readings.
type card struct {
	uuid, model string
	index       int
	// minor is the number of its device file; -1 where the driver does not say.
	minor int

	busy, bandwidth, processes lastSeen

	// slices that the device can be cut into; 0 where nobody has asked yet.
	slices int
	// counting says whether the device has performance counters (GPM), once that was asked.
	asked, counting bool
	// counters by GPU instance; whole is the device's own.
	counters map[int]*counters
}

const whole = -1

func newCard(uuid string, index int) *card {
	return &card{uuid: uuid, index: index, minor: -1, counters: map[int]*counters{}}
}

// release forgets what belongs to the library as it is open now.
func (c *card) release(library gonvml.Interface) {
	for id, own := range c.counters {
		own.free(library)
		delete(c.counters, id)
	}
	c.asked, c.counting, c.slices = false, false, 0
}

// read asks a device for everything.
func (c *card) read(library gonvml.Interface, device gonvml.Device, can abilities, now time.Time) gpu.GPU {
	l := &look{library: library, device: device, can: can, now: now}
	if model, answer := device.GetName(); l.took("nvmlDeviceGetName", answer) {
		c.model = printable(model)
	}
	if minor, answer := device.GetMinorNumber(); l.took("nvmlDeviceGetMinorNumber", answer) {
		c.minor = minor
	}
	out := c.named()
	out.Memory = l.memory(device)
	c.askForCounters(l)
	if can.mig && l.cut() {
		out.Instances = c.instances(l)
	} else {
		out.Processes = c.process(l)
		c.use(l, &out.Use)
	}
	out.Fault = l.verdict(&out)
	return out
}

// miss says that the card was not read now: its counters are not to be bridged.
func (c *card) miss() {
	for _, own := range c.counters {
		own.taken = time.Time{}
	}
}

// named is the card as far as it is known without asking.
func (c *card) named() gpu.GPU {
	return gpu.GPU{UUID: c.uuid, Index: c.index, Minor: c.minor, Model: c.model}
}

// use reads what a device that is not cut did.
func (c *card) use(l *look, out *gpu.Use) {
	out.Busy = l.samples(gonvml.GPU_UTILIZATION_SAMPLES, &c.busy)
	// Read in any case: a device may have no counters.
	touched := l.samples(gonvml.MEMORY_UTILIZATION_SAMPLES, &c.bandwidth)
	if !c.counting {
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

// memory of a device or an instance: used is what processes hold, as nvidia-smi has it, where the driver tells it apart from
// what it reserves for itself.
func (l *look) memory(device gonvml.Device) gpu.Memory {
	if l.fault != nil {
		return gpu.Memory{}
	}
	if l.can.memory2 {
		if m, answer := device.GetMemoryInfo_v2(); l.took("nvmlDeviceGetMemoryInfo_v2", answer) {
			return gpu.Memory{Used: m.Used, Total: m.Total}
		}
	}
	if m, answer := device.GetMemoryInfo(); l.took("nvmlDeviceGetMemoryInfo", answer) {
		return gpu.Memory{Used: m.Used, Total: m.Total}
	}
	return gpu.Memory{}
}
