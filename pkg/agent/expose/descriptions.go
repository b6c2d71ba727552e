package expose

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/history"
)

// The pods' metrics are what pkg/signal's nvml presets ask for.
var ofDevice, ofPod = []string{"uuid", "gpu_instance"}, []string{"namespace", "pod", "container", "uuid", "gpu_instance"}

// metric is one that a measure of the history has its means under.
type metric struct{ name, help string }

var means = map[history.Measure]metric{
	history.Busy:      {"forewarm_gpu_busy_ratio", "Share of the time in which a GPU or MIG instance ran something, of itself, over the window."},
	history.Bandwidth: {"forewarm_gpu_memory_bandwidth_ratio", "Share of a GPU's or MIG instance's memory bandwidth in use, over the window; before Hopper of the time in which memory was used."},
	history.Tensor:    {"forewarm_gpu_tensor_ratio", "Share of the time in which the tensor pipes were active, over the window (Hopper and later)."},
	history.PodBusy:   {"forewarm_gpu_pod_busy_ratio", "Physical GPUs that a pod's container kept busy on a device, over the window; none where that cannot be told."},
	history.PodBandwidth: {"forewarm_gpu_pod_memory_bandwidth_ratio", "Physical GPUs' worth of memory bandwidth that a pod's container used on a device, over the window; none where that cannot be told."},
	history.PodAllocated: {"forewarm_gpu_pod_allocated_ratio", "Physical GPUs that a pod's container holds of a device: 1/n for one of n replicas, the slices' share for a MIG instance."},
}

func labelsOf(m history.Measure) []string {
	switch m {
	case history.PodBusy, history.PodBandwidth, history.PodAllocated:
		return ofPod
	default:
		return ofDevice
	}
}

// descriptions of all metrics.
type descriptions struct {
	means                               map[history.Measure]*prometheus.Desc
	busyMax, busyP95                    *prometheus.Desc
	bandwidthMax, bandwidthP95          *prometheus.Desc
	tensorMax, tensorP95                *prometheus.Desc
	used, total                         *prometheus.Desc
	info, share                         *prometheus.Desc
	fault, driver, agentFault, lastRead *prometheus.Desc
	leftOut *prometheus.Desc
}

func describe() *descriptions {
	device := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, ofDevice, nil) }
	d := &descriptions{
		means: map[history.Measure]*prometheus.Desc{},

		busyMax:      device("forewarm_gpu_busy_max_ratio", "Largest sample of a GPU's or MIG instance's busy share in the window."),
		busyP95:      device("forewarm_gpu_busy_p95_ratio", "Busy share that was not exceeded in 95 % of the window."),
		bandwidthMax: device("forewarm_gpu_memory_bandwidth_max_ratio", "Largest sample of the memory bandwidth in use in the window."),
		bandwidthP95: device("forewarm_gpu_memory_bandwidth_p95_ratio", "Memory bandwidth in use that was not exceeded in 95 % of the window."),
		tensorMax:    device("forewarm_gpu_tensor_max_ratio", "Largest sample of the tensor pipes' activity in the window."),
		tensorP95:    device("forewarm_gpu_tensor_p95_ratio", "Tensor pipes' activity that was not exceeded in 95 % of the window."),
		used:         device("forewarm_gpu_memory_used_bytes", "Memory that processes hold. Servers that allocate ahead hold the same whatever they do."),
		total:        device("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance."),
		share:        device("forewarm_gpu_share_ratio", "Share of the physical GPU's compute: 1, or a MIG instance's slices over the GPU's."),
		info: prometheus.NewDesc("forewarm_gpu_info", "A GPU or MIG instance, by its names.",
			append(ofDevice[:2:2], "index", "model", "profile", "instance_uuid"), nil),
		fault: prometheus.NewDesc("forewarm_gpu_fault", "1 while a GPU cannot be read, with the reason; none while it can.",
			[]string{"uuid", "index", "reason"}, nil),
		driver: prometheus.NewDesc("forewarm_agent_driver_info", "The GPU driver that answers.", []string{"version"}, nil),
		agentFault: prometheus.NewDesc("forewarm_agent_fault",
			"1 while something that the agent asks does not answer: the driver, the kubelet, or the driver for so long that the agent's figures are old.",
			[]string{"of", "reason"}, nil),
		leftOut: prometheus.NewDesc("forewarm_agent_devices_left_out",
			"Devices that containers hold and that could not be told, by the reason.", []string{"reason"}, nil),
		lastRead: prometheus.NewDesc("forewarm_agent_last_reading_timestamp_seconds", "When the GPUs were looked at last.", nil, nil),
	}
	for m, is := range means {
		d.means[m] = prometheus.NewDesc(is.name, is.help, labelsOf(m), nil)
	}
	return d
}

func (d *descriptions) all() []*prometheus.Desc {
	out := []*prometheus.Desc{
		d.busyMax, d.busyP95, d.bandwidthMax, d.bandwidthP95, d.tensorMax, d.tensorP95, d.used, d.total, d.info, d.share,
		d.fault, d.driver, d.agentFault, d.leftOut, d.lastRead,
	}
	for _, m := range history.Measures() {
		out = append(out, d.means[m])
	}
	return out
}
