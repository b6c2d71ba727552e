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

// means are what the means of each measure are called. The pods' names are what pkg/signal's nvml presets ask for.
func means() map[history.Measure]metric {
	return map[history.Measure]metric{
		history.Busy: {
			"forewarm_gpu_busy_ratio",
			"Share of the window in which a GPU or MIG instance was busy.", ofDevice(),
		},
		history.Bandwidth: {
			"forewarm_gpu_memory_bandwidth_ratio",
			"Share of the memory bandwidth of a GPU or MIG instance in use, over the window. Before Hopper: share of the time in " +
				"which memory was used.",
			ofDevice(),
		},
		history.Tensor: {
			"forewarm_gpu_tensor_ratio",
			"Share of the time in which the tensor pipes were active, over the window (Hopper and later).", ofDevice(),
		},
		history.PodBusy: {
			"forewarm_gpu_pod_busy_ratio",
			"Physical GPUs that a pod's container kept busy on a device, over the window; absent where that is not known.",
			ofPod(),
		},
		history.PodBandwidth: {
			"forewarm_gpu_pod_memory_bandwidth_ratio",
			"Physical GPUs' worth of memory bandwidth that a pod's container used on a device, over the window; absent where " +
				"that is not known.",
			ofPod(),
		},
		history.PodAllocated: {
			"forewarm_gpu_pod_allocated_ratio",
			"Physical GPUs that a pod's container holds of a device: 1/n for one of n replicas, the slices' share for a MIG " +
				"instance.",
			ofPod(),
		},
	}
}

// descriptions of all metrics.
type descriptions struct {
	all                                 []*prometheus.Desc
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
	for m, is := range means() {
		d.means[m] = d.add(is.name, is.help, is.labels...)
	}
	d.busy = d.shape("forewarm_gpu_busy", "share of time in which something ran")
	d.bandwidth = d.shape("forewarm_gpu_memory_bandwidth", "memory bandwidth in use")
	d.tensor = d.shape("forewarm_gpu_tensor", "activity of the tensor pipes")
	d.used = d.add(
		"forewarm_gpu_memory_used_bytes",
		"Memory that processes hold. Servers that allocate memory ahead hold the same amount at any load.",
		ofDevice()...)
	d.total = d.add("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance.", ofDevice()...)
	d.share = d.add("forewarm_gpu_share_ratio",
		"Share of the physical GPU's compute: 1, or a MIG instance's slices over the GPU's.", ofDevice()...)
	d.info = d.add("forewarm_gpu_info", "A GPU or MIG instance, by its names.",
		append(ofDevice(), "index", "model", "profile", "instance_uuid")...)
	d.fault = d.add("forewarm_gpu_fault", "1 while a GPU cannot be read, with the reason; none while it can.",
		"uuid", "index", "reason")
	d.driver = d.add("forewarm_agent_driver_info", "The GPU driver that answers.", "version")
	d.agentFault = d.add("forewarm_agent_fault", "1 while the driver or the kubelet does not answer completely, "+
		"with the reason.", "of", "reason")
	d.leftOut = d.add("forewarm_agent_devices_left_out",
		"Devices that containers hold and that could not be identified, by reason.", "reason")
	d.lastRead = d.add("forewarm_agent_last_reading_timestamp_seconds", "Time of the last reading of the GPUs.")
	return d
}

func (d *descriptions) add(name, help string, labels ...string) *prometheus.Desc {
	one := prometheus.NewDesc(name, help, labels, nil)
	d.all = append(d.all, one)
	return one
}

func (d *descriptions) shape(name, what string) shape {
	return shape{
		most: d.add(name+"_max_ratio", "Largest sample in the window: "+what+".", ofDevice()...),
		p95:  d.add(name+"_p95_ratio", "Not exceeded in 95 % of the window: "+what+".", ofDevice()...),
	}
}
