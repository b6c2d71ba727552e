package pods

import (
	"strconv"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// deviceNames resolves the ids that device plugins and drivers give to devices.
type deviceNames struct {
	gpus []gpu.GPU
}

// resolve returns the device that an id of a resource means, and its replica where it is shared. The device is empty
// where the resource is not a GPU, and reason is set where it is one that cannot be identified. Resources can be
// renamed, so a UUID counts in any resource; a number means a GPU only where the resource's name is that of one.
//
//	NVIDIA's device plugin   GPU-…, MIG-…; replicas of it (time-slicing, MPS) GPU-…::0, GPU-…::1
//	by NVML's index          0, of its second instance 0:1; replicas 0::0, 0::1
//	GKE's device plugin      nvidia0, by the device file; of its GPU instance 3 nvidia0/gi3; replicas nvidia0/vgpu1
func (n deviceNames) resolve(resource, id string) (device, replica, reason string) {
	base, replica := splitReplica(id)
	if uuid := asUUID(base); uuid != "" {
		return uuid, replica, ""
	}
	if !isGPU(resource) {
		return "", "", ""
	}
	found, known := n.byNumber(base)
	switch {
	case !known:
		return "", "", UnknownID
	case found == "":
		return "", "", UnknownNumber
	}
	return found, replica, ""
}

// splitReplica splits an id into the device's and the replica's, which is empty where there is none.
func splitReplica(id string) (base, replica string) {
	for _, mark := range [...]string{"::", "/vgpu"} {
		if base, replica, shared := strings.Cut(id, mark); shared && replica != "" {
			return base, replica
		}
	}
	return id, ""
}

// byNumber is the device that an id of numbers means, and whether the id has a known form.
func (n deviceNames) byNumber(id string) (uuid string, known bool) {
	if file, isFile := strings.CutPrefix(id, "nvidia"); isFile {
		minor, instance, nested := strings.Cut(file, "/gi")
		g := n.uniqueGPU(parseNumber(minor), func(g *gpu.GPU) int { return g.Minor })
		if !nested {
			return uuidOf(g), parseNumber(minor) >= 0
		}
		return instanceOf(g, parseNumber(instance)), parseNumber(minor) >= 0 && parseNumber(instance) >= 0
	}
	index, slot, nested := strings.Cut(id, ":")
	g := n.uniqueGPU(parseNumber(index), func(g *gpu.GPU) int { return g.Index })
	switch {
	case !nested:
		return uuidOf(g), parseNumber(index) >= 0
	case g != nil && parseNumber(slot) >= 0 && parseNumber(slot) < len(g.Instances):
		return g.Instances[parseNumber(slot)].UUID, true
	}
	return "", parseNumber(index) >= 0 && parseNumber(slot) >= 0
}

// uniqueGPU is the GPU with a number; nil where none or several have it.
func (n deviceNames) uniqueGPU(number int, of func(*gpu.GPU) int) *gpu.GPU {
	var found *gpu.GPU
	for i := range n.gpus {
		if g := &n.gpus[i]; of(g) == number {
			if found != nil {
				return nil
			}
			found = g
		}
	}
	return found
}

func uuidOf(g *gpu.GPU) string {
	if g == nil {
		return ""
	}
	return g.UUID
}

// instanceOf a GPU by the GPU instance's id, unless several compute instances share that.
func instanceOf(g *gpu.GPU, id int) string {
	uuid := ""
	if g == nil {
		return uuid
	}
	for i := range g.Instances {
		if g.Instances[i].ID == id {
			if uuid != "" {
				return ""
			}
			uuid = g.Instances[i].UUID
		}
	}
	return uuid
}

// parseNumber parses a plain number of at most four digits; −1 for anything else.
func parseNumber(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || len(s) > 4 {
		return -1
	}
	return int(n)
}

// isGPU reports whether a resource's name is that of GPUs: nvidia.com/gpu, nvidia.com/gpu.shared,
// nvidia.com/mig-1g.10gb.
func isGPU(resource string) bool {
	name, nvidia := strings.CutPrefix(resource, "nvidia.com/")
	return nvidia && (name == "gpu" || strings.HasPrefix(name, "gpu.") || strings.HasPrefix(name, "mig-"))
}

// countReplicas is the number of a device's replicas as far as known: they are numbered from 0, so the highest number counts
// the unknown ones too.
func countReplicas(replicas set) int {
	n := len(replicas)
	for replica := range replicas {
		n = max(n, parseNumber(replica)+1)
	}
	return n
}

// claimed is the device of a resource claim, and whether the claim is one of NVIDIA's DRA driver.
//
// The UUID is in the CDI device's name where that is the container toolkit's (nvidia.com/gpu=GPU-…), or in the device's
// own name. NVIDIA's DRA driver names a GPU gpu-0 after its device file; the UUID in its
// k8s.gpu.nvidia.com/claim=UUID-gpu-0 is the claim's. Its name of an instance, gpu-0-mig-19-2-1, has a profile and a
// placement, which no reading has.
func (n deviceNames) claimed(resource *podresources.ClaimResource) (uuid string, ours bool) {
	for _, cdi := range resource.GetCdiDevices() {
		if uuid = lastUUID(cdi.GetName()); uuid != "" {
			return uuid, true
		}
	}
	name := resource.GetDeviceName()
	if uuid = lastUUID(name); uuid != "" || resource.GetDriverName() != "gpu.nvidia.com" {
		return uuid, false
	}
	minor, isGPU := strings.CutPrefix(name, "gpu-")
	if !isGPU || parseNumber(minor) < 0 {
		return "", true
	}
	return uuidOf(n.uniqueGPU(parseNumber(minor), func(g *gpu.GPU) int { return g.Minor })), true
}

// uuidPrefixes are the prefixes of devices' UUIDs.
func uuidPrefixes() [2]string { return [2]string{"GPU-", "MIG-"} }

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

// asUUID is a device's UUID as the driver writes it; empty for anything else. Names in Kubernetes have no capitals.
func asUUID(s string) string {
	if len(s) != uuidLength {
		return ""
	}
	for _, kind := range uuidPrefixes() {
		if uuid := strings.ToLower(s[len(kind):]); strings.EqualFold(s[:len(kind)], kind) && IsUUID(uuid) {
			return kind + uuid
		}
	}
	return ""
}
