package pods

import (
	"cmp"
	"strings"
)

// Container is a pod's container.
type Container struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Name      string `json:"container"`
}

// Compare orders containers by their names.
func (c Container) Compare(d Container) int {
	return cmp.Or(strings.Compare(c.Namespace, d.Namespace), strings.Compare(c.Pod, d.Pod),
		strings.Compare(c.Name, d.Name))
}

// Holding is the allocation of a device, or of a share of it, to a container.
type Holding struct {
	Container Container
	// Device is the UUID of a GPU or of a MIG instance.
	Device string
	// Allocated is the share of the device that the container holds, 0 … 1: 1 for a whole one, 1/n for one of n
	// time-slicing or MPS replicas.
	Allocated float64
}

// Held has the holdings of a node, as far as the kubelet's answer can be read.
type Held struct {
	// Holdings are sorted by device and container, one for each.
	Holdings []Holding
	// Unidentified counts the devices that containers hold and that could not be identified, by reason.
	Unidentified map[string]int
	// Estimated is true where the kubelet has never reported the number of a shared device's replicas, so that it was
	// derived from the replicas that are held and their numbers. The true shares may be smaller.
	Estimated bool
}
