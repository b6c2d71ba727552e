package signal

import (
	"fmt"
	"slices"
	"strings"
)

// gpusAllocated is the sum of the devices that pods request, each weighted by its part of a GPU. A MIG instance is weighted by its slices.
// Another device is weighted by the number of devices that share a GPU of the node, or by the part that the pod requests. Pods that have
// ended hold nothing, although they are still listed. The weight of a device with an unknown number of sharers is NaN, and that of a device
// with an unknown part is infinite. Then the total is NaN or infinite as well and has no series, which is better than counting a share as a
// whole GPU. If a pod of a StatefulSet is created again on another node, it counts once, even while one kube-state-metrics reports the old
// pod and another the new one.
func (s scope) gpusAllocated() string {
	ended := s.instantSeries("kube_pod_status_phase", `phase=~"Succeeded|Failed"`)
	devices := fmt.Sprintf(`%s or %s * on (pod, container) group_left () %s`, s.migInstances(), s.devices(), s.parts())
	held := fmt.Sprintf(`(sum by (pod) (max by (pod, container, resource) (%s))
		unless on (pod) (max by (pod) (%s) == 1))`, devices, ended)
	reporting := s.instantSeries("kube_pod_container_resource_requests",
		fmt.Sprintf(`resource=~"%s|%s|nvidia_com_mig_.+",node!=""`, anyDevice, hundredth))
	return s.totalOf(held, reporting) + ` >= 0 < Inf`
}

// requestedDevices is the number of devices that scheduled pods request, by pod, container, node and resource.
func (s scope) requestedDevices(resource string, more ...string) string {
	own := []string{"container", "node", "resource"}
	labels := strings.Join(append([]string{"pod"}, append(own, more...)...), ", ")
	series := s.instantSeries(
		"kube_pod_container_resource_requests",
		fmt.Sprintf(`resource=~%q,node!=""`, resource),
		own...)
	if len(more) > 0 {
		series = fmt.Sprintf(`label_replace(%s, "slices", "$1", "resource", "nvidia_com_mig_([0-9])g_.+")`, series)
		series = fmt.Sprintf(
			`label_replace(%s, "slices", "$1/4", "resource", "nvidia_com_mig_(1g_6|2g_12|4g_24)gb.*")`, series)
	}
	return fmt.Sprintf(`max by (%s) (%s)`, labels, series)
}

// migInstances is the number of MIG instances, weighted by the compute slices in the name of the resource. PromQL cannot convert a label to
// a number, so a vector of constants is used.
func (s scope) migInstances() string {
	return fmt.Sprintf(`%s * on (slices) group_left () (%s)`, s.requestedDevices("nvidia_com_mig_.+", "slices"),
		migWeights())
}

// Resources of devices that may be shared. With time-slicing and MPS, they keep their name or get the suffix .shared. vCUDA counts
// hundredths of a GPU.
const (
	ownDevice    = "nvidia_com_gpu"
	sharedDevice = "nvidia_com_gpu_shared"
	anyDevice    = ownDevice + "|" + sharedDevice
	hundredth    = "tencent_com_vcuda_core"
)

// devices is the number of devices, weighted by the number of replicas that each GPU has on their node (which may be 1). On a node without
// that label, the name decides whether they are whole GPUs or unknown.
func (s scope) devices() string {
	return fmt.Sprintf(`(%s * on (node) group_left () %s or %s * on (resource) group_left () (%s))`,
		s.requestedDevices(anyDevice), s.sharesByNode(), s.requestedDevices(anyDevice+"|"+hundredth),
		byResource(ownDevice, "1", sharedDevice, "NaN", hundredth, "1 / 100"))
}

// parts is the part of each of its devices that a container has. With HAMi, it is the larger of the percentages for compute and memory;
// otherwise it is 1. For a memory in MiB, the part depends on the GPU. Then it is infinite, so that the maximum cannot hide it.
func (s scope) parts() string {
	const cores, memory, percent = "nvidia_com_gpucores", "nvidia_com_gpumem", "nvidia_com_gpumem_percentage"
	parts := fmt.Sprintf(`%s * on (resource) group_left () (%s)`, s.requestedDevices(cores+"|"+memory+"|"+percent),
		byResource(cores, "1 / 100", percent, "1 / 100", memory, "Inf"))
	return fmt.Sprintf(`(max by (pod, container) (%s) or group by (pod, container) (%s))`, parts,
		s.requestedDevices(anyDevice+"|"+hundredth))
}

// byResource is a vector of constants with the label resource. The arguments are names and values in turn.
func byResource(all ...string) string {
	var out []string
	for pair := range slices.Chunk(all, 2) {
		out = append(out, fmt.Sprintf(`label_replace(vector(%s), "resource", %q, "", "")`, pair[1], pair[0]))
	}
	return strings.Join(out, " or ")
}

// replicaLabels is the nodes that have the label of NVIDIA's feature discovery for the number of replicas of a GPU. The label parts has
// that number. Nodes have no namespace, so the namespace label is the exporter's.
func (s scope) replicaLabels() string {
	return `group by (node, parts) (label_replace(` + nodeLabels + `{label_nvidia_com_gpu_replicas!="",` +
		s.trust.reporters() + `}, "parts", "$1", "label_nvidia_com_gpu_replicas", "(.+)"))`
}

const nodeLabels = "kube_node_labels"

// sharesByNode is a device's share of a GPU by node. It uses a vector of constants, like migInstances. It is NaN for numbers of replicas
// that are not in the vector.
func (s scope) sharesByNode() string {
	shares := []string{`label_replace(vector(1), "parts", "1", "", "")`}
	for _, replicas := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64} {
		shares = append(shares, fmt.Sprintf(`label_replace(vector(1 / %d), "parts", "%[1]d", "", "")`, replicas))
	}
	return fmt.Sprintf(`(max by (node) (%s * on (parts) group_left () (%s)) or group by (node) (%[1]s) * NaN)`,
		s.replicaLabels(), strings.Join(shares, " or "))
}

// migWeights is the share of a GPU that a MIG instance has, by its compute slices.
func migWeights() string {
	var shares []string
	for _, n := range []int{1, 2, 3, 4, 7} {
		shares = append(shares, fmt.Sprintf(`label_replace(vector(%d / 7), "slices", "%[1]d", "", "")`, n))
	}
	for _, profile := range []string{"1g_6", "2g_12", "4g_24"} {
		shares = append(shares,
			fmt.Sprintf(`label_replace(vector(%c / 4), "slices", "%s/4", "", "")`, profile[0], profile))
	}
	return strings.Join(shares, " or ")
}
