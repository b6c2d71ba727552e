package signal

import "fmt"

// nvml is the presets for Forewarm's node agent, which reads NVML and attributes processes to pods on shared GPUs.
//
// They need gauges in shares of a physical GPU, 0 … 1, for each pod and device, with the labels namespace and pod (the
// workload's), container, uuid (the GPU's) and gpu_instance (a MIG instance's, else absent). Over the pods of a device,
// busy and bandwidth add up to at most the device's own. A pod that cannot be told apart has no series.
func nvml() Source {
	return Source{
		Name:  "nvml",
		Title: "forewarm's node agent",
		Note: "Needs forewarm-agent on the nodes (deploy/agent). Unlike dcgm-exporter it tells pods that share a GPU apart; " +
			"MIG instances only on Hopper and later, where the driver counts them. As with dcgm, it measures GPU utilization, " +
			"not demand. The agent has been tested on NVML mocks, not on hardware.",
		Presets: []Preset{
			{
				Name:  "nvml/gpu-busy",
				Brief: "demand on shared GPUs (node agent)",
				Summary: "Physical GPUs kept busy by the target's own processes, also under time-slicing and MPS; a MIG instance " +
					"counts by its share of the GPU. Saturates at the allocated share.",
				Target:   "the share of a physical GPU that a replica has, times its maximum utilization: 0.25 × 0.8 for one of four",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_busy_ratio") },
			},
			{
				Name:  "nvml/memory-bandwidth",
				Brief: "demand of decoding on shared GPUs (node agent)",
				Summary: "Memory bandwidth in use by the target's own processes, in physical GPUs, also on shared GPUs. " +
					"Saturates at the allocated share.",
				Target:   "the share of a physical GPU that a replica has, times the share up to which latency is good",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_memory_bandwidth_ratio") },
			},
			{
				Name:  "nvml/gpus-allocated",
				Brief: "GPUs held, with shares: cost, warm pools (agent)",
				Summary: "Physical GPUs that the target's pods hold: 1 for a whole one, 1/n for one of n time-slicing or MPS " +
					"replicas, the slices' share for a MIG instance. It follows the replicas, so do not scale on it.",
				Target:   "none: not for an HPA",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_allocated_ratio") },
			},
		},
	}
}

// podShares sums the pods' own shares of physical GPUs. Two pods that share a GPU add up: their shares do not overlap.
func (s scope) podShares(name string) string {
	return s.total(
		fmt.Sprintf(`max by (pod, uuid, gpu_instance) (%s)`,
			s.series("sum", name, metric{}, "uuid", "gpu_instance", "instance", "job")),
	)
}
