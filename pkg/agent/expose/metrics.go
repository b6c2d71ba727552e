package expose

import "github.com/forewarm/forewarm/pkg/agent/collect"

func deviceLabels() []string { return []string{"uuid", "gpu_instance"} }

// podLabels ends with the labels of deviceLabels.
func podLabels() []string {
	return append([]string{"namespace", "pod", "container"}, deviceLabels()...)
}

type metric struct {
	help   string
	labels []string
}

// meanName is the metric of a measure's mean, which has a history. The presets nvml/… of pkg/signal query those of pods.
func meanName(m collect.Measure) string { return "forewarm_gpu_" + string(m) + "_ratio" }

// metrics are all gauges by their names.
func metrics() map[string]metric {
	all := map[string]metric{}
	of := func(labels ...string) func(name, help string) {
		return func(name, help string) { all[name] = metric{help: help, labels: labels} }
	}
	device := of(deviceLabels()...)
	device("forewarm_gpu_busy_ratio", "Share of the window in which a GPU or MIG instance was busy.")
	device(
		"forewarm_gpu_memory_bandwidth_ratio",
		"Share of the memory bandwidth of a GPU or MIG instance in use, over the "+
			"window. Before Hopper: share of the time in which memory was used.",
	)
	device("forewarm_gpu_tensor_ratio",
		"Share of the time in which the tensor pipes were active, over the window (Hopper and later).")
	for name, what := range map[string]string{
		"forewarm_gpu_busy":             "share of time in which something ran",
		"forewarm_gpu_memory_bandwidth": "memory bandwidth in use",
		"forewarm_gpu_tensor":           "activity of the tensor pipes",
	} {
		device(name+"_max_ratio", "Largest sample in the window: "+what+".")
		device(name+"_p95_ratio", "95th percentile over the window: "+what+".")
	}
	device("forewarm_gpu_memory_used_bytes",
		"Memory that processes hold. It does not follow the load of a server that allocates its memory at the start.")
	device("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance.")
	device("forewarm_gpu_share_ratio",
		"Share of the physical GPU's compute: 1, or a MIG instance's slices over the GPU's.")
	pod := of(podLabels()...)
	pod("forewarm_gpu_pod_busy_ratio",
		"Physical GPUs that a pod's container kept busy on a device, over the window; absent where unknown.")
	pod(
		"forewarm_gpu_pod_memory_bandwidth_ratio",
		"Memory bandwidth that a pod's container used on a device, over the "+
			"window, in physical GPUs; absent where unknown.",
	)
	pod("forewarm_gpu_pod_allocated_ratio", "Physical GPUs that a pod's container holds on a device: 1/n for one of n "+
		"replicas, the slices' share for a MIG instance.")
	of("uuid", "gpu_instance", "index", "model", "profile", "instance_uuid")(
		"forewarm_gpu_info", "A GPU or MIG instance, by its names.")
	of("uuid", "index", "reason")(
		"forewarm_gpu_fault", "1 while a GPU cannot be read, with the reason; absent while it can.")
	of("version")("forewarm_agent_driver_info", "1, with the version of the GPU driver.")
	of("component", "reason")("forewarm_agent_error",
		"1 while the answer of the driver or the kubelet is missing or incomplete, with the reason.")
	of("reason")("forewarm_agent_unidentified_devices",
		"Devices that containers hold and that cannot be matched with a GPU of this node, by reason.")
	of()("forewarm_agent_last_reading_timestamp_seconds", "Time of the last reading of the GPUs.")
	return all
}
