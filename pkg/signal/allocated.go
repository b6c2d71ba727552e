package signal

import (
	"fmt"
	"strings"
)

// gpusAllocated weighs what pods ask for: MIG instances by their slices, and other devices by how many share a GPU of their
// node. Pods that have ended hold nothing, though they are still listed. Where it is not known how many share a device it
// weighs NaN, and so does the total, which is then none: better than one that takes a part for a whole.
func (s scope) gpusAllocated() string {
	ended := s.fact("kube_pod_status_phase", `phase=~"Succeeded|Failed"`)
	held := fmt.Sprintf(`(sum by (pod) (%s or %s or %s or %s) unless on (pod) (max by (pod) (%s) == 1))`,
		s.instances(), s.shared(), s.whole(), s.unknown(), ended)
	return s.total(held) + ` >= 0`
}

// requests are the devices that scheduled pods ask for, by pod, container, node and resource.
func (s scope) requests(resource string, more ...string) string {
	labels := strings.Join(append([]string{"pod", "container", "node", "resource"}, more...), ", ")
	series := s.fact("kube_pod_container_resource_requests", fmt.Sprintf(`resource=~%q,node!=""`, resource))
	if len(more) > 0 {
		series = fmt.Sprintf(`label_replace(%s, "slices", "$1", "resource", "nvidia_com_mig_([0-9])g_.+")`, series)
		series = fmt.Sprintf(
			`label_replace(%s, "slices", "$1/4", "resource", "nvidia_com_mig_(1g_6|2g_12|4g_24)gb.*")`, series)
	}
	return fmt.Sprintf(`max by (%s) (%s)`, labels, series)
}

// instances of MIG: a resource's name tells the slices of compute. PromQL makes no number of a label, so a vector of constants
// does.
func (s scope) instances() string {
	return fmt.Sprintf(`%s * on (slices) group_left () (%s)`, s.requests("nvidia_com_mig_.+", "slices"), weights())
}

// Devices that may be shared: under time-slicing and MPS they keep their name, or are called .shared.
const (
	ownDevice    = "nvidia_com_gpu"
	sharedDevice = "nvidia_com_gpu_shared"
	anyDevice    = ownDevice + "|" + sharedDevice
)

// shared are the devices on nodes of which it is said how many replicas a GPU is shared into, 1 included.
func (s scope) shared() string {
	return fmt.Sprintf(`%s * on (node) group_left () %s`, s.requests(anyDevice), parts())
}

// whole are the devices on nodes of which nothing is said, by their own name.
func (s scope) whole() string {
	return fmt.Sprintf(`(%s unless on (node) %s)`, s.requests(ownDevice), labelled())
}

// unknown are the devices that are a part of a GPU by their name, on nodes of which nothing is said.
func (s scope) unknown() string {
	return fmt.Sprintf(`(%s unless on (node) %s) * NaN`, s.requests(sharedDevice), labelled())
}

// labelled is the nodes of which NVIDIA's feature discovery says how many replicas a GPU is shared into, with that number in
// the label parts. Nodes are in no namespace; what is read of them is that label.
func labelled() string {
	return `group by (node, parts) (label_replace(` + nodeLabels +
		`{label_nvidia_com_gpu_replicas!=""}, "parts", "$1", "label_nvidia_com_gpu_replicas", "(.+)"))`
}

const nodeLabels = "kube_node_labels"

// parts is the share of a GPU that a device is, by node: a vector of constants, see instances. It is NaN for a number of
// replicas that is not among them.
func parts() string {
	shares := []string{`label_replace(vector(1), "parts", "1", "", "")`}
	for _, replicas := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64} {
		shares = append(shares, fmt.Sprintf(`label_replace(vector(1 / %d), "parts", "%[1]d", "", "")`, replicas))
	}
	return fmt.Sprintf(`(max by (node) (%s * on (parts) group_left () (%s)) or group by (node) (%[1]s) * NaN)`,
		labelled(), strings.Join(shares, " or "))
}

// weights is what share of a GPU a MIG instance is, by its slices of compute.
func weights() string {
	var shares []string
	for _, slices := range []int{1, 2, 3, 4, 7} {
		shares = append(shares, fmt.Sprintf(`label_replace(vector(%d / 7), "slices", "%[1]d", "", "")`, slices))
	}
	for _, profile := range []string{"1g_6", "2g_12", "4g_24"} {
		shares = append(shares,
			fmt.Sprintf(`label_replace(vector(%c / 4), "slices", "%s/4", "", "")`, profile[0], profile))
	}
	return strings.Join(shares, " or ")
}
