package expose

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/collect"
)

func deviceLabels() []string { return []string{"uuid", "gpu_instance"} }

// podLabels ends with the labels of deviceLabels.
func podLabels() []string {
	return append([]string{"namespace", "pod", "container"}, deviceLabels()...)
}

// metric is a metric that has a collect.
type metric struct {
	name, help string
	labels     []string
}

// meanMetrics are the metrics of each measure's mean. The presets nvml/… of pkg/signal query those of pods.
func meanMetrics() map[collect.Measure]metric {
	return map[collect.Measure]metric{
		collect.Busy: {
			"forewarm_gpu_busy_ratio",
			"Share of the window in which a GPU or MIG instance was busy.", deviceLabels(),
		},
		collect.Bandwidth: {
			"forewarm_gpu_memory_bandwidth_ratio",
			"Share of the memory bandwidth of a GPU or MIG instance in use, over the window. Before Hopper: share of the time in " +
				"which memory was used.",
			deviceLabels(),
		},
		collect.Tensor: {
			"forewarm_gpu_tensor_ratio",
			"Share of the time in which the tensor pipes were active, over the window (Hopper and later).",
			deviceLabels(),
		},
		collect.PodBusy: {
			"forewarm_gpu_pod_busy_ratio",
			"Physical GPUs that a pod's container kept busy on a device, over the window; absent where unknown.",
			podLabels(),
		},
		collect.PodBandwidth: {
			"forewarm_gpu_pod_memory_bandwidth_ratio",
			"Memory bandwidth that a pod's container used on a device, over the window, in physical GPUs; absent where unknown.",
			podLabels(),
		},
		collect.PodAllocated: {
			"forewarm_gpu_pod_allocated_ratio",
			"Physical GPUs that a pod's container holds on a device: 1/n for one of n replicas, the slices' share for a MIG " +
				"instance.",
			podLabels(),
		},
	}
}

// descriptions of all metrics.
type descriptions struct {
	all                                 []*prometheus.Desc
	means                               map[collect.Measure]*prometheus.Desc
	busy, bandwidth, tensor             extremes
	used, total, info, share            *prometheus.Desc
	fault, driver, agentError, lastRead *prometheus.Desc
	unidentified                        *prometheus.Desc
}

// extremes is a measure's maximum and 95th percentile.
type extremes struct{ max, p95 *prometheus.Desc }

func describe() *descriptions {
	d := &descriptions{means: map[collect.Measure]*prometheus.Desc{}}
	for m, is := range meanMetrics() {
		d.means[m] = d.add(is.name, is.help, is.labels...)
	}
	d.busy = d.extremes("forewarm_gpu_busy", "share of time in which something ran")
	d.bandwidth = d.extremes("forewarm_gpu_memory_bandwidth", "memory bandwidth in use")
	d.tensor = d.extremes("forewarm_gpu_tensor", "activity of the tensor pipes")
	d.used = d.add(
		"forewarm_gpu_memory_used_bytes",
		"Memory that processes hold. It does not follow the load of a server that allocates its memory at the start.",
		deviceLabels()...)
	d.total = d.add("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance.", deviceLabels()...)
	d.share = d.add("forewarm_gpu_share_ratio",
		"Share of the physical GPU's compute: 1, or a MIG instance's slices over the GPU's.", deviceLabels()...)
	d.info = d.add("forewarm_gpu_info", "A GPU or MIG instance, by its names.",
		append(deviceLabels(), "index", "model", "profile", "instance_uuid")...)
	d.fault = d.add("forewarm_gpu_fault", "1 while a GPU cannot be read, with the reason; absent while it can.",
		"uuid", "index", "reason")
	d.driver = d.add("forewarm_agent_driver_info", "1, with the version of the GPU driver.", "version")
	d.agentError = d.add(
		"forewarm_agent_error",
		"1 while the answer of the driver or the kubelet is missing or incomplete, "+
			"with the reason.",
		"component",
		"reason",
	)
	d.unidentified = d.add("forewarm_agent_unidentified_devices",
		"Devices that containers hold and that cannot be matched with a GPU of this node, by reason.", "reason")
	d.lastRead = d.add("forewarm_agent_last_reading_timestamp_seconds", "Time of the last reading of the GPUs.")
	return d
}

func (d *descriptions) add(name, help string, labels ...string) *prometheus.Desc {
	one := prometheus.NewDesc(name, help, labels, nil)
	d.all = append(d.all, one)
	return one
}

func (d *descriptions) extremes(name, what string) extremes {
	return extremes{
		max: d.add(name+"_max_ratio", "Largest sample in the window: "+what+".", deviceLabels()...),
		p95: d.add(name+"_p95_ratio", "95th percentile over the window: "+what+".", deviceLabels()...),
	}
}
