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

// IsUUID says whether s is written 8-4-4-4-12 in small hexadecimal digits.
func IsUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		IsHex(strings.ReplaceAll(s, "-", ""), 32)
}

// IsHex says whether s is so many small hexadecimal digits.
func IsHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// Holding is a container's hold on a device.
type Holding struct {
	Container Container
	// Device is the UUID of a GPU or of a MIG instance.
	Device string
	// Allocated is the share of the device that the container holds, 0 … 1: 1 for a whole one, 1/n for one of n
	// time-slicing or MPS replicas.
	Allocated float64
}

// Held is who holds what, as far as a kubelet's answer was understood.
type Held struct {
	// Holdings are sorted by device and container, one for each.
	Holdings []Holding
	// LeftOut counts the devices that containers hold and that could not be told, by why, in a word.
	LeftOut map[string]int
	// Estimated: the kubelet has never told how many replicas a shared device has, so that those that are held, and their
	// numbers, were counted. Its holders' shares may be smaller than they are told to be.
	Estimated bool
}
