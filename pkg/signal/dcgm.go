package signal

import (
	"fmt"
	"strings"
)

// dcgm is the presets on NVIDIA's dcgm-exporter, and on kube-state-metrics for what was allotted.
func dcgm() Source {
	return Source{
		Name:  "dcgm",
		Title: "NVIDIA dcgm-exporter",
		Note: "Says what GPUs do, not what is asked of them: a saturated GPU shows no more than 1, however long the queue. " +
			"Prefer the server's own in-flight requests where it reports them. Collected every 30 s by default. " +
			"A MIG instance counts as one, so a replica on one instance has 1. Under time-slicing and MPS pods cannot be told apart: " +
			"use the server's own metrics, or nvml.",
		Presets: []Preset{
			{
				Name:  "dcgm/gpu-busy",
				Brief: "demand of a server without metrics of its own",
				Summary: "GPUs kept busy by the target's pods: the sum of the share of time in which each GPU (or MIG instance) " +
					"had work. Saturates at the GPUs allotted; not for GPUs shared by time-slicing or MPS.",
				Target:   "the GPUs (or MIG instances) of a replica, times how busy they may be: 0.8 for one GPU",
				Unit:     "GPUs",
				template: func(s scope) string { return s.gpus("DCGM_FI_PROF_GR_ENGINE_ACTIVE") },
			},
			{
				Name:  "dcgm/memory-bandwidth",
				Brief: "demand of decoding, which memory bounds",
				Summary: "GPUs' worth of memory bandwidth in use by the target's pods: the sum of the share of cycles in which each " +
					"GPU's (or MIG instance's) memory moved data. Nearer to the limit of token generation than gpu-busy. " +
					"Saturates; not for GPUs shared by time-slicing or MPS.",
				Target:   "the GPUs of a replica, times the share at which it still keeps its latency: often 0.6 for one GPU",
				Unit:     "GPUs",
				template: func(s scope) string { return s.gpus("DCGM_FI_PROF_DRAM_ACTIVE") },
			},
			{
				Name:  "dcgm/gpus-allocated",
				Brief: "GPUs held: bills and warm pools, never scaling",
				Summary: "GPUs that the target's scheduled pods hold, from their resource requests (kube-state-metrics): a MIG " +
					"instance by its compute slices of seven (of four on an A30), a time-slicing or MPS replica as a whole one: " +
					"divide in a query of your own where several make a GPU. It follows the replicas, so scaling on it feeds itself. Claims of dynamic resource allocation are not seen.",
				Target:   "none: not for an HPA",
				Unit:     "GPUs",
				template: scope.gpusAllocated,
			},
		},
	}
}

// gpus sums a ratio 0 … 1 over the GPUs of the target's pods. Both profiling metrics are on by default in the exporter
// and, unlike DCGM_FI_DEV_GPU_UTIL, true under MIG. A GPU is known by UUID and GPU_I_ID. It counts once: two exporters or
// scrape jobs copy it, and with virtual GPUs each pod that shares it carries a copy beside the device's own series,
// which has no pod.
func (s scope) gpus(name string) string {
	return fmt.Sprintf(`sum(max by (UUID, GPU_I_ID) (max by (pod, UUID, GPU_I_ID) (%s) * on (pod) group_left () %s))`,
		s.fact(name, ""), s.pods())
}

// gpusAllocated weighs what pods ask for. A resource's name tells a MIG instance's slices of compute; PromQL makes no
// number of a label, so a vector of constants does. Pods that have ended hold nothing, though they are still listed.
func (s scope) gpusAllocated() string {
	requests := s.fact("kube_pod_container_resource_requests", `resource=~"nvidia_com_(gpu(_shared)?|mig_.+)",node!=""`)
	sliced := fmt.Sprintf(`label_replace(%s, "slices", "$1", "resource", "nvidia_com_mig_([0-9])g_.+")`, requests)
	sliced = fmt.Sprintf(
		`label_replace(%s, "slices", "$1/4", "resource", "nvidia_com_mig_(1g_6|2g_12|4g_24)gb.*")`,
		sliced,
	)
	ended := s.fact("kube_pod_status_phase", `phase=~"Succeeded|Failed"`)
	held := fmt.Sprintf(
		`max by (pod, container, resource, slices) (%s) * on (slices) group_left () (%s)`,
		sliced,
		weights(),
	)
	return s.total(fmt.Sprintf(`(sum by (pod) (%s) unless on (pod) (max by (pod) (%s) == 1))`, held, ended))
}

// weights is what share of a GPU a device is, by its slices of compute.
func weights() string {
	shares := []string{`vector(1)`}
	for _, slices := range []int{1, 2, 3, 4, 7} {
		shares = append(shares, fmt.Sprintf(`label_replace(vector(%d / 7), "slices", "%[1]d", "", "")`, slices))
	}
	for _, profile := range []string{"1g_6", "2g_12", "4g_24"} {
		shares = append(
			shares,
			fmt.Sprintf(`label_replace(vector(%c / 4), "slices", "%s/4", "", "")`, profile[0], profile),
		)
	}
	return strings.Join(shares, " or ")
}
