package kubelet

import (
	"strconv"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// names finds devices by the ids that a device plugin gives them.
type names struct {
	gpus []gpu.GPU
}

// resolve says which device an id of a resource means, and which replica of it where it is shared. There is no device in
// what is no GPU, and a reason where it is one that cannot be told.
//
// NVIDIA's device plugin names a device by its UUID, GPU-… or MIG-…, and replicas of it (time-slicing, MPS) UUID::0,
// UUID::1 … Its resources may be renamed, so that the id decides. Others name devices by NVML's index, 0, or 0:1 for the
// second instance of the first GPU: a number means a GPU only where the resource's name says so.
func (n names) resolve(resource, id string) (device, replica string, reason Reason) {
	base, replica, shared := strings.Cut(id, "::")
	if shared && replica == "" {
		base = id
	}
	if uuid := asUUID(base); uuid != "" {
		return uuid, replica, ""
	}
	if !isGPU(resource) {
		return "", "", ""
	}
	first, second, nested := strings.Cut(base, ":")
	index, err := strconv.Atoi(first)
	if err != nil {
		return "", "", UnknownID
	}
	instance := -1
	if nested {
		if instance, err = strconv.Atoi(second); err != nil || instance < 0 {
			return "", "", UnknownID
		}
	}
	if device = n.at(index, instance); device == "" {
		return "", "", UnknownIndex
	}
	return device, replica, ""
}

// at is the UUID of a GPU, or of its instance where that is not negative.
func (n names) at(index, instance int) string {
	for i := range n.gpus {
		g := &n.gpus[i]
		switch {
		case g.Index != index:
		case instance < 0:
			return g.UUID
		case instance < len(g.Instances):
			return g.Instances[instance].UUID
		}
	}
	return ""
}

// isGPU says whether a resource is GPUs by its name: nvidia.com/gpu, nvidia.com/gpu.shared, nvidia.com/mig-1g.10gb.
func isGPU(resource string) bool {
	name, nvidia := strings.CutPrefix(resource, "nvidia.com/")
	return nvidia && (name == "gpu" || strings.HasPrefix(name, "gpu.") || strings.HasPrefix(name, "mig-"))
}

// count is how many replicas a device has, by those that are known: they are numbered from 0, so that the highest number
// tells of those that are not.
func count(replicas set) int {
	n := len(replicas)
	for replica := range replicas {
		if i, err := strconv.ParseUint(replica, 10, 16); err == nil {
			n = max(n, int(i)+1)
		}
	}
	return n
}

// claimedDevice is the device of a resource claim, and whether it is a GPU of NVIDIA's DRA driver. A UUID stands in the
// CDI device's name where the driver took it from the container toolkit (nvidia.com/gpu=GPU-…), or in the device's own.
// NVIDIA's DRA driver writes k8s.gpu.nvidia.com/device=gpu-0, by the device's minor number, and in claim=… the claim's
// UUID, which is no GPU's.
func claimedDevice(resource *podresources.ClaimResource) (uuid string, ours bool) {
	for _, cdi := range resource.GetCdiDevices() {
		if uuid = lastUUID(cdi.GetName()); uuid != "" {
			return uuid, true
		}
	}
	return lastUUID(resource.GetDeviceName()), resource.GetDriverName() == "gpu.nvidia.com"
}

// kinds are what the UUIDs of devices begin with.
func kinds() [2]string { return [2]string{"GPU-", "MIG-"} }

// uuidLength is that of GPU-5f3c1a2b-8d21-4c3e-9a77-0123456789ab.
const uuidLength = len("GPU-") + 36

// lastUUID is the UUID that a name ends with.
func lastUUID(name string) string {
	start := len(name) - uuidLength
	if start < 0 || (start > 0 && name[start-1] != '=' && name[start-1] != '-') {
		return ""
	}
	return asUUID(name[start:])
}

// asUUID is a device's UUID as the driver writes it, and nothing for what is none. Names in Kubernetes have no capitals.
func asUUID(s string) string {
	if len(s) != uuidLength {
		return ""
	}
	for _, kind := range kinds() {
		if uuid := strings.ToLower(s[len(kind):]); strings.EqualFold(s[:len(kind)], kind) && isUUID(uuid) {
			return kind + uuid
		}
	}
	return ""
}

// isUUID says whether s is written 8-4-4-4-12 in small hexadecimal digits.
func isUUID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
