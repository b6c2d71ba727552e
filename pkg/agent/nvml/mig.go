//go:build cgo

package nvml

import (
	"fmt"
	"strings"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// cut says whether MIG is on.
func (l *look) cut() bool {
	if l.fault != nil {
		return false
	}
	mode, _, answer := l.device.GetMigMode()
	return l.took("nvmlDeviceGetMigMode", answer) && mode == gonvml.DEVICE_MIG_ENABLE
}

// instances reads the MIG instances of a device.
func (c *card) instances(l *look) []gpu.Instance {
	most, answer := l.device.GetMaxMigDeviceCount()
	if !l.took("nvmlDeviceGetMaxMigDeviceCount", answer) {
		return nil
	}
	if c.slices == 0 {
		c.slices = slicesOf(l.device, c.model)
	}
	var out []gpu.Instance
	for i := range most {
		part, answer := l.device.GetMigDeviceHandleByIndex(i)
		if !l.took("nvmlDeviceGetMigDeviceHandleByIndex", answer) {
			continue // an index without an instance
		}
		if instance, ok := c.instance(l, part); ok {
			out = append(out, instance)
		}
	}
	c.countInstances(l, out)
	return out
}

// instance reads what one is, without what it did.
func (c *card) instance(l *look, part gonvml.Device) (gpu.Instance, bool) {
	uuid, answer := part.GetUUID()
	if !l.took("nvmlDeviceGetUUID", answer) {
		return gpu.Instance{}, false
	}
	id, answer := part.GetGpuInstanceId()
	if !l.took("nvmlDeviceGetGpuInstanceId", answer) {
		return gpu.Instance{}, false
	}
	attributes, answer := part.GetAttributes()
	if !l.took("nvmlDeviceGetAttributes", answer) {
		return gpu.Instance{}, false
	}
	out := gpu.Instance{UUID: printable(uuid), ID: id, Profile: fmt.Sprintf("%dg", attributes.GpuInstanceSliceCount)}
	if name, answer := part.GetName(); l.took("nvmlDeviceGetName", answer) {
		if _, profile, found := strings.Cut(name, " MIG "); found {
			out.Profile = printable(profile)
		}
	}
	out.Share = min(float64(attributes.ComputeInstanceSliceCount)/float64(c.slices), 1)
	out.Memory = l.memory(part)
	out.Processes = l.running(part)
	return out, true
}

// countInstances adds what the instances did, which only the performance counters of Hopper and later tell.
func (c *card) countInstances(l *look, instances []gpu.Instance) {
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
		if shared[id] > 1 || !c.counting {
			continue
		}
		counted := c.count(l, id, func(into gonvml.GpmSample) gonvml.Return {
			return l.library.GpmMigSampleGet(l.device, id, into)
		})
		instances[i].Busy, instances[i].Bandwidth, instances[i].Tensor = counted.Busy, counted.Bandwidth, counted.Tensor
	}
}

// slicesOf is how many slices of compute a device can be cut into: those of the largest profile that its driver knows, 7 on most, 4
// on A30.
func slicesOf(device gonvml.Device, model string) int {
	most := 0
	for profile := range gonvml.GPU_INSTANCE_PROFILE_COUNT {
		if known, answer := device.GetGpuInstanceProfileInfo(profile); answer == gonvml.SUCCESS {
			most = max(most, int(known.SliceCount))
		}
	}
	switch {
	case most > 0:
		return most
	case strings.Contains(model, "A30"):
		return 4
	default:
		return 7
	}
}
