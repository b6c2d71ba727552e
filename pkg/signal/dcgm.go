package signal

import "fmt"

// dcgm is the presets for NVIDIA's dcgm-exporter, and for kube-state-metrics for allocated GPUs.
func dcgm() Source {
	return Source{
		Name:  "dcgm",
		Title: "NVIDIA dcgm-exporter",
		Note: "Measures GPU utilization, not demand: a saturated GPU reports at most 1, however long the queue is. " +
			"Prefer the server's own requests in flight if it reports them. Collected every 30 s by default. " +
			"A MIG instance counts as one, so a replica on one instance has 1. Under time-slicing and MPS it cannot tell pods apart: " +
			"use the server's own metrics, or nvml.",
		Presets: []Preset{
			{
				Name:  "dcgm/gpu-busy",
				Brief: "demand of a server without own metrics",
				Summary: "GPUs kept busy by the target's pods: the sum of the share of time in which each GPU (or MIG instance) " +
					"had work. Saturates at the allocated GPUs. Not for GPUs shared by time-slicing or MPS.",
				Target:   "the GPUs (or MIG instances) of a replica, times their maximum utilization: 0.8 for one GPU",
				Unit:     "GPUs",
				template: func(s scope) string { return s.busyGPUs("DCGM_FI_PROF_GR_ENGINE_ACTIVE") },
			},
			{
				Name:  "dcgm/memory-bandwidth",
				Brief: "demand of decoding, which is memory-bound",
				Summary: "Memory bandwidth in use by the target's pods, in GPUs: the sum of the share of cycles in which each " +
					"GPU's (or MIG instance's) memory moved data. Nearer to the limit of token generation than gpu-busy. " +
					"Saturates. Not for GPUs shared by time-slicing or MPS.",
				Target:   "the GPUs of a replica, times the share up to which latency is good: often 0.6 for one GPU",
				Unit:     "GPUs",
				template: func(s scope) string { return s.busyGPUs("DCGM_FI_PROF_DRAM_ACTIVE") },
			},
			{
				Name:  "dcgm/gpus-allocated",
				Brief: "GPUs held: for cost and warm pools, never scaling",
				Summary: "Physical GPUs that the target's scheduled pods hold, from their resource requests (kube-state-metrics): a MIG " +
					"instance by its compute slices of seven (of four on an A30), one of n time-slicing or MPS replicas as 1/n. That " +
					"needs the node label nvidia.com/gpu.replicas, which kube-state-metrics exports with " +
					"--metric-labels-allowlist=nodes=[nvidia.com/gpu.replicas]. Without it nvidia.com/gpu.shared has no series, " +
					"because its share is not known, and nvidia.com/gpu counts as a whole GPU, which is wrong if it is shared under that " +
					"name, and under MIG's strategy single: write the share in your own query there, as sum(…) / 4. It follows the " +
					"replicas, so do not scale on it. Claims of dynamic resource allocation are not counted.",
				Target:   "none: not for an HPA",
				Unit:     "GPUs",
				template: scope.gpusAllocated,
			},
		},
	}
}

// busyGPUs sums a ratio 0 … 1 over the GPUs of the target's pods. Both profiling metrics are on by default in the
// exporter and, unlike DCGM_FI_DEV_GPU_UTIL, true under MIG. A GPU is identified by UUID and GPU_I_ID and counts once:
// two exporters or scrape jobs copy it, and with virtual GPUs each pod that shares it has a copy beside the device's
// own series, which has no pod.
func (s scope) busyGPUs(name string) string {
	return fmt.Sprintf(`sum(max by (UUID, GPU_I_ID) (max by (pod, UUID, GPU_I_ID) (%s) * on (pod) group_left () %s))`,
		s.instantSeries(name, "", "UUID", "GPU_I_ID"), s.pods())
}
