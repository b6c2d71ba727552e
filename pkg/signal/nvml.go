package signal

import "fmt"

// nvml is the presets on forewarm's own node agent, which reads NVML and knows whose process is whose under sharing.
//
// What they ask of it: gauges in shares of a physical GPU, 0 … 1, for each pod and device, with the labels namespace and
// pod (the workload's), container, uuid (the GPU's) and gpu_instance (a MIG instance's, else absent). Over the pods of a
// device busy and bandwidth add up to no more than the device's own. No series for a pod that cannot be told apart.
func nvml() Source {
	return Source{
		Name:  "nvml",
		Title: "forewarm's node agent",
		Note: "Needs forewarm-agent on the nodes (deploy/agent). It tells the pods that share a GPU apart, which dcgm-exporter " +
			"does not; MIG instances only on Hopper and later, where the driver counts them. What holds for dcgm holds here: GPUs " +
			"show what is done, not what is asked. The agent is tried on NVML's mocks and has not met hardware.",
		Presets: []Preset{
			{
				Name:  "nvml/gpu-busy",
				Brief: "demand on shared GPUs (node agent)",
				Summary: "Physical GPUs kept busy by the target's own processes, under time-slicing and MPS too; a MIG instance " +
					"counts by its share of the GPU. Saturates at what is allotted.",
				Target:   "the share of a physical GPU that a replica has, times how busy it may be: 0.25 × 0.8 for one of four",
				Unit:     "GPUs",
				template: func(s scope) string { return s.attributed("forewarm_gpu_pod_busy_ratio") },
			},
			{
				Name:  "nvml/memory-bandwidth",
				Brief: "demand of decoding on shared GPUs (node agent)",
				Summary: "Physical GPUs' worth of memory bandwidth in use by the target's own processes, under sharing too. " +
					"Saturates at what is allotted.",
				Target:   "the share of a physical GPU that a replica has, times the share at which it keeps its latency",
				Unit:     "GPUs",
				template: func(s scope) string { return s.attributed("forewarm_gpu_pod_memory_bandwidth_ratio") },
			},
			{
				Name:  "nvml/gpus-allocated",
				Brief: "GPUs held, shares too: bills, warm pools (agent)",
				Summary: "Physical GPUs that the target's pods hold: 1 for a whole one, 1/n for one of n time-slicing or MPS " +
					"replicas, the slices' share for a MIG instance. It follows the replicas, so scaling on it feeds itself.",
				Target:   "none: not for an HPA",
				Unit:     "GPUs",
				template: func(s scope) string { return s.attributed("forewarm_gpu_pod_allocated_ratio") },
			},
		},
	}
}

// attributed sums shares of physical GPUs that are the pods' own. Two pods that share a GPU add up, for neither's share
// holds the other's.
func (s scope) attributed(name string) string {
	return s.total(
		fmt.Sprintf(`max by (pod, uuid, gpu_instance) (sum by (pod, uuid, gpu_instance, instance, job) (%s))`,
			s.fact(name, "")),
	)
}
