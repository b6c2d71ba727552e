package signal

import (
	"fmt"
	"strings"
)

// dcgm has the presets for NVIDIA's dcgm-exporter, and for allocated GPUs according to kube-state-metrics.
func dcgm() Source {
	return Source{
		Name:  "dcgm",
		Title: "NVIDIA dcgm-exporter",
		Note: "These presets measure GPU utilization, not demand. A saturated GPU reports at most 1, no matter how " +
			"long the queue is. If the server reports its requests in flight, use them instead. The exporter " +
			"collects data every 30 s by default. A MIG instance counts as one GPU, so the maximum for a replica on " +
			"one instance is 1. The exporter cannot distinguish pods that share a GPU by time-slicing or MPS. For " +
			"these pods, use the server's own metrics or the presets of nvml.",
		Presets: []Preset{
			{
				Name:  "dcgm/gpu-busy",
				Brief: "demand of a server without its own metrics",
				Summary: "Number of GPUs that the target's pods keep busy: the share of time in which a GPU (or MIG " +
					"instance) had work, summed over the GPUs. The value cannot exceed the number of allocated GPUs. " +
					"Do not use it for GPUs that are shared by time-slicing or MPS.",
				Target:    "the number of GPUs (or MIG instances) per replica, times their maximum utilization, for example 0.8 for one GPU",
				Unit:      "GPUs",
				profiling: engineActive,
				template:  func(s scope) string { return s.busyGPUs(engineActive, s.utilizations()...) },
			},
			{
				Name:  "dcgm/memory-bandwidth",
				Brief: "demand of decoding, which is memory-bound",
				Summary: "Memory bandwidth that the target's pods use, as a number of GPUs: the share of cycles in " +
					"which the memory of a GPU (or MIG instance) moved data, summed over the GPUs. It shows the " +
					"limit of token generation better than gpu-busy does. The value cannot exceed the number of " +
					"allocated GPUs. Do not use it for GPUs that are shared by time-slicing or MPS.",
				Target: "the number of GPUs per replica, times the highest share of the bandwidth at which latency " +
					"is still good, often 0.6 for one GPU",
				Unit: "GPUs",
				template: func(s scope) string {
					return s.busyGPUs("DCGM_FI_PROF_DRAM_UTIL_RATIO|DCGM_FI_PROF_DRAM_ACTIVE")
				},
			},
			{
				Name:  "dcgm/gpus-allocated",
				Brief: "GPUs held: for cost and warm pools, not scaling",
				Summary: "Number of physical GPUs that the target's scheduled pods hold, according to their resource " +
					"requests (kube-state-metrics). The value follows the replicas, so do not scale on it. A MIG " +
					"instance counts by its share of the seven compute slices (four on an A30), and one of n " +
					"time-slicing or MPS replicas counts as 1/n. For time-slicing and MPS, kube-state-metrics must " +
					"export the node label nvidia.com/gpu.replicas " +
					"(--metric-labels-allowlist=nodes=[nvidia.com/gpu.replicas]). Without this label, the preset has " +
					"no series for pods that request nvidia.com/gpu.shared, because their share of a GPU is not " +
					"known, and it counts nvidia.com/gpu as a whole GPU. Counting a whole GPU is wrong if GPUs are " +
					"shared under that name, or if the MIG strategy is single. In these cases, write your own query " +
					"with the share, such as sum(…) / 4. A HAMi share counts as the larger of gpucores and " +
					"gpumem-percentage. For pods with gpumem (MiB), the preset has no series, because their share is " +
					"not known. For vCUDA, one vcuda-core counts as a hundredth of a GPU. The preset does not count " +
					"claims of dynamic resource allocation.",
				Target:   "none, because it is not for an HPA",
				Unit:     "GPUs",
				template: scope.gpusAllocated,
			},
		},
	}
}

// engineActive is the share of time in which a GPU's compute engine was busy.
const engineActive = "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO|DCGM_FI_PROF_GR_ENGINE_ACTIVE"

// busyGPUs sums a ratio from 0 to 1 over the GPUs of the target's pods. The exporter enables the profiling metric by default, under one
// name before release 4.9.0 and under the other name from then on. It is also correct with MIG. If a GPU does not have the metric, the
// expressions in instead are used. A GPU is identified by UUID and GPU_I_ID and counts once. There may be several copies: from two
// exporters or scrape jobs, and with virtual GPUs also one for each pod that shares the GPU, next to the device's own series without a pod.
// A ratio above 1 is not valid: DCGM uses 2⁴⁷ for a field that it cannot read.
func (s scope) busyGPUs(name string, instead ...string) string {
	perPod := "(" + strings.Join(append([]string{s.perGPU(name, metric{most: 1})}, instead...), " or ") + ")"
	const total = `sum(max by (UUID, GPU_I_ID) (%s * on (pod) group_left () %s))`
	return s.unlessUnknown(fmt.Sprintf(total, perPod, s.pods()), perPod)
}

// utilizations is the share of time in which a whole GPU was busy according to NVML, which measures it less precisely. It is not correct
// for a MIG instance. A GPU has one of the two metrics.
func (s scope) utilizations() []string {
	const percent = 100
	of := func(name string, whole float64) string {
		return fmt.Sprintf(`%s / %g`, s.perGPU(name, metric{matchers: `GPU_I_ID=""`, most: whole}), whole)
	}
	return []string{of("DCGM_FI_DEV_GPU_UTIL_RATIO", 1), of("DCGM_FI_DEV_GPU_UTIL", percent)}
}

// perGPU is a metric by pod and by GPU or MIG instance. Of several copies, the largest counts.
func (s scope) perGPU(name string, m metric) string {
	return fmt.Sprintf(`max by (pod, UUID, GPU_I_ID) (%s)`, s.series("max", name, m, "UUID", "GPU_I_ID"))
}

// IdleProfiling is PromQL for the number of GPUs of the target whose profiling field is 0 while the GPU is busy by its utilization; empty
// for other presets.
func (p Preset) IdleProfiling(namespace string, target Target, trust Trust) string {
	if p.profiling == "" {
		return ""
	}
	s := scope{namespace: namespace, target: target, trust: trust}
	busy := strings.Join(s.utilizations(), " or ")
	expr, err := s.formatQuery(fmt.Sprintf(`count((%s == 0) and on (pod, UUID, GPU_I_ID) ((%s) > 0.5) and on (pod) %s)`,
		s.perGPU(p.profiling, metric{most: 1}), busy, s.pods()))
	if err != nil {
		return ""
	}
	return expr
}

// nvml has the presets for Forewarm's node agent, which reads NVML and attributes processes to pods on shared GPUs.
//
// The presets need gauges for each pod and device, as shares of a physical GPU from 0 to 1. The labels namespace, pod and container belong
// to the workload, uuid is the GPU, and gpu_instance is the MIG instance or absent. Over the pods of a device, busy and bandwidth add up to
// at most the device's own value. A pod whose use cannot be distinguished has no series.
func nvml() Source {
	return Source{
		Name:  "nvml",
		Title: "Forewarm's node agent",
		Note: "These presets need forewarm-agent on the nodes (deploy/agent). Unlike dcgm-exporter, the agent can " +
			"distinguish pods that share a GPU. For MIG instances, this works only on Hopper and later GPUs, where " +
			"the driver measures each instance. Like dcgm, the agent measures GPU utilization, not demand. The agent " +
			"has been tested with NVML mocks, not on hardware.",
		Presets: []Preset{
			{
				Name:  "nvml/gpu-busy",
				Brief: "demand on shared GPUs (node agent)",
				Summary: "Number of physical GPUs that the target's own processes keep busy. It also works with " +
					"time-slicing and MPS. A MIG instance counts by its share of the GPU. The value cannot exceed " +
					"the allocated share.",
				Target: "the share of a physical GPU that a replica has, times its maximum utilization, for example 0.25 × 0.8 for a " +
					"quarter of a GPU",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_busy_ratio") },
			},
			{
				Name:  "nvml/memory-bandwidth",
				Brief: "demand of decoding on shared GPUs (node agent)",
				Summary: "Memory bandwidth that the target's own processes use, as a number of physical GPUs. It " +
					"also works on shared GPUs. The value cannot exceed the allocated share.",
				Target: "the share of a physical GPU that a replica has, times the highest share of the bandwidth " +
					"at which latency is still good",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_memory_bandwidth_ratio") },
			},
			{
				Name:  "nvml/gpus-allocated",
				Brief: "GPUs held: for cost and warm pools (node agent)",
				Summary: "Number of physical GPUs that the target's pods hold: 1 for a whole GPU, 1/n for one of n " +
					"time-slicing or MPS replicas, and the share of the compute slices for a MIG instance. The value " +
					"follows the replicas, so do not scale on it.",
				Target:   "none, because it is not for an HPA",
				Unit:     "GPUs",
				template: func(s scope) string { return s.podShares("forewarm_gpu_pod_allocated_ratio") },
			},
		},
	}
}

// podShares sums the pods' shares of physical GPUs. The shares of two pods on a GPU do not overlap, so they are added up, and so are the
// shares of the containers of a pod. Without honorLabels, exported_container has the container, and container has the exporter's own.
func (s scope) podShares(name string) string {
	m := metric{names: []string{name}, most: 1}
	shares := func(container, matcher string) string {
		m.matchers = matcher
		return fmt.Sprintf(
			`label_replace(max by (pod, uuid, gpu_instance, %[1]s) (%s), "exported_container", "$1", "container", "(.+)")`,
			container,
			s.series("max", name, m, "uuid", "gpu_instance", container),
		)
	}
	perPod := fmt.Sprintf(`max by (pod, uuid, gpu_instance, exported_container) (%s or %s)`,
		shares("exported_container", `exported_container!=""`), shares("container", `exported_container=""`))
	return s.total(fmt.Sprintf(`sum by (pod, uuid, gpu_instance) (%s)`, perPod))
}
