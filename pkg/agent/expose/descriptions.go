package expose

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/history"
)

func ofDevice() []string { return []string{"uuid", "gpu_instance"} }

// ofPod ends as ofDevice does.
func ofPod() []string { return append([]string{"namespace", "pod", "container"}, ofDevice()...) }

// metric is one that has a history.
type metric struct {
	name, help string
	labels     []string
}

// named is what the means of a measure are called. The pods' names are what pkg/signal's nvml presets ask for.
func named(m history.Measure) metric {
	switch m {
	case history.Busy:
		return metric{
			"forewarm_gpu_busy_ratio",
			"Share of the time in which a GPU or MIG instance ran something, of itself, over the window.", ofDevice(),
		}
	case history.Bandwidth:
		return metric{
			"forewarm_gpu_memory_bandwidth_ratio",
			"Share of the memory bandwidth of a GPU or MIG instance in use, over the window; before Hopper of the time in which " +
				"memory was used.",
			ofDevice(),
		}
	case history.Tensor:
		return metric{
			"forewarm_gpu_tensor_ratio",
			"Share of the time in which the tensor pipes were active, over the window (Hopper and later).", ofDevice(),
		}
	case history.PodBusy:
		return metric{
			"forewarm_gpu_pod_busy_ratio",
			"Physical GPUs that a pod's container kept busy on a device, over the window; none where that cannot be told.",
			ofPod(),
		}
	case history.PodBandwidth:
		return metric{
			"forewarm_gpu_pod_memory_bandwidth_ratio",
			"Physical GPUs' worth of memory bandwidth that a pod's container used on a device, over the window; none where " +
				"that cannot be told.",
			ofPod(),
		}
	case history.PodAllocated:
		return metric{
			"forewarm_gpu_pod_allocated_ratio",
			"Physical GPUs that a pod's container holds of a device: 1/n for one of n replicas, the slices' share for a MIG " +
				"instance.",
			ofPod(),
		}
	default:
		return metric{name: "forewarm_unnamed", help: "A measure that has no name yet: " + string(m), labels: ofPod()}
	}
}

// descriptions of all metrics.
type descriptions struct {
	means                               map[history.Measure]*prometheus.Desc
	busy, bandwidth, tensor             shape
	used, total, info, share            *prometheus.Desc
	fault, driver, agentFault, lastRead *prometheus.Desc
	leftOut                             *prometheus.Desc
}

// shape is what there is of a measure beside its mean.
type shape struct{ most, p95 *prometheus.Desc }

func describe() *descriptions {
	d := &descriptions{means: map[history.Measure]*prometheus.Desc{}}
	for _, m := range history.Measures() {
		is := named(m)
		d.means[m] = prometheus.NewDesc(is.name, is.help, is.labels, nil)
	}
	d.busy = shaped("forewarm_gpu_busy", "share of time in which something ran")
	d.bandwidth = shaped("forewarm_gpu_memory_bandwidth", "memory bandwidth in use")
	d.tensor = shaped("forewarm_gpu_tensor", "activity of the tensor pipes")
	d.describeDevices()
	d.describeAgent()
	return d
}

func shaped(name, what string) shape {
	return shape{
		most: prometheus.NewDesc(name+"_max_ratio", "Largest sample in the window: "+what+".", ofDevice(), nil),
		p95:  prometheus.NewDesc(name+"_p95_ratio", "Not exceeded in 95 % of the window: "+what+".", ofDevice(), nil),
	}
}

func (d *descriptions) describeDevices() {
	device := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, ofDevice(), nil) }
	d.used = device("forewarm_gpu_memory_used_bytes",
		"Memory that processes hold. Servers that allocate ahead hold the same whatever they do.")
	d.total = device("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance.")
	d.share = device("forewarm_gpu_share_ratio",
		"Share of the physical GPU's compute: 1, or a MIG instance's slices over the GPU's.")
	d.info = prometheus.NewDesc("forewarm_gpu_info", "A GPU or MIG instance, by its names.",
		append(ofDevice(), "index", "model", "profile", "instance_uuid"), nil)
	d.fault = prometheus.NewDesc(
		"forewarm_gpu_fault",
		"1 while a GPU cannot be read, with the reason; none while it can.",
		[]string{"uuid", "index", "reason"},
		nil,
	)
}

func (d *descriptions) describeAgent() {
	d.driver = prometheus.NewDesc(
		"forewarm_agent_driver_info",
		"The GPU driver that answers.",
		[]string{"version"},
		nil,
	)
	d.agentFault = prometheus.NewDesc(
		"forewarm_agent_fault",
		"1 while something that the agent asks, the driver or the kubelet, does not answer or not wholly, with the reason.",
		[]string{"of", "reason"},
		nil,
	)
	d.leftOut = prometheus.NewDesc("forewarm_agent_devices_left_out",
		"Devices that containers hold and that could not be told, by the reason.", []string{"reason"}, nil)
	d.lastRead = prometheus.NewDesc(
		"forewarm_agent_last_reading_timestamp_seconds",
		"When the GPUs were looked at last.",
		nil,
		nil,
	)
}

func (d *descriptions) all() []*prometheus.Desc {
	out := []*prometheus.Desc{
		d.busy.most, d.busy.p95, d.bandwidth.most, d.bandwidth.p95, d.tensor.most, d.tensor.p95,
		d.used, d.total, d.info, d.share, d.fault, d.driver, d.agentFault, d.leftOut, d.lastRead,
	}
	for _, m := range history.Measures() {
		out = append(out, d.means[m])
	}
	return out
}
