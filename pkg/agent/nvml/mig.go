//go:build cgo

package nvml

import (
	"fmt"
	"strings"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// migEnabled reports whether MIG is enabled.
func (l *deviceReading) migEnabled() bool {
	if l.fault != nil {
		return false
	}
	mode, ok := call(l, "nvmlDeviceGetMigMode", func() (int, gonvml.Return) {
		mode, _, answer := l.device.GetMigMode()
		return mode, answer
	})
	return ok && mode == gonvml.DEVICE_MIG_ENABLE
}

// instances reads the MIG instances of a device.
func (c *card) instances(l *deviceReading) []gpu.Instance {
	most, ok := call(l, "nvmlDeviceGetMaxMigDeviceCount", l.device.GetMaxMigDeviceCount)
	if !ok {
		return nil
	}
	if c.slices == 0 {
		c.slices = slicesOf(l, c.model)
	}
	var out []gpu.Instance
	for i := range most {
		part, ok := call(l, "nvmlDeviceGetMigDeviceHandleByIndex", func() (gonvml.Device, gonvml.Return) {
			return l.device.GetMigDeviceHandleByIndex(i)
		})
		if !ok {
			continue // There is no instance with this index.
		}
		if instance, ok := c.instance(l, part); ok {
			out = append(out, instance)
		}
	}
	c.countInstances(l, out)
	return out
}

// instance reads one MIG instance, without its use.
func (c *card) instance(l *deviceReading, part gonvml.Device) (gpu.Instance, bool) {
	uuid, ok := call(l, "nvmlDeviceGetUUID", part.GetUUID)
	if !ok {
		return gpu.Instance{}, false
	}
	id, ok := call(l, "nvmlDeviceGetGpuInstanceId", part.GetGpuInstanceId)
	if !ok {
		return gpu.Instance{}, false
	}
	attributes, ok := call(l, "nvmlDeviceGetAttributes", part.GetAttributes)
	if !ok {
		return gpu.Instance{}, false
	}
	out := gpu.Instance{UUID: printable(uuid), ID: id, Profile: fmt.Sprintf("%dg", attributes.GpuInstanceSliceCount)}
	if name, ok := call(l, "nvmlDeviceGetName", part.GetName); ok {
		if _, profile, found := strings.Cut(name, " MIG "); found {
			out.Profile = printable(profile)
		}
	}
	out.Share = min(float64(attributes.ComputeInstanceSliceCount)/float64(c.slices), 1)
	out.Memory = l.memory(part)
	out.Processes = l.runningProcesses(part)
	return out, true
}

// countInstances adds the use of the instances. Only the performance counters of Hopper and later have it.
func (c *card) countInstances(l *deviceReading, instances []gpu.Instance) {
	shared := map[int]int{}
	for i := range instances {
		shared[instances[i].ID]++
	}
	for id, own := range c.counters {
		if shared[id] == 0 {
			own.free(l.library)
			delete(c.counters, id)
		}
	}
	for i := range instances {
		id := instances[i].ID
		if shared[id] > 1 || !c.hasCounters {
			continue
		}
		counted := c.count(l, id, func(into gonvml.GpmSample) gonvml.Return {
			return l.library.GpmMigSampleGet(l.device, id, into)
		})
		instances[i].Busy, instances[i].Bandwidth, instances[i].Tensor = counted.Busy, counted.Bandwidth, counted.Tensor
	}
}

// slicesOf returns how many compute slices a device has. It is the number in its largest profile: 7 on most models, and 4 on A30.
func slicesOf(l *deviceReading, model string) int {
	most := 0
	for profile := range gonvml.GPU_INSTANCE_PROFILE_COUNT {
		known, answer := protect(l, "nvmlDeviceGetGpuInstanceProfileInfo",
			func() (gonvml.GpuInstanceProfileInfo, gonvml.Return) {
				return l.device.GetGpuInstanceProfileInfo(profile)
			})
		if answer == gonvml.SUCCESS {
			most = max(most, int(known.SliceCount))
		}
	}
	switch {
	case most > 0:
		return most
	case strings.Contains(model, "A30"):
		return 4
	}
	return 7
}
