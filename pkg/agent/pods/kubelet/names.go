package kubelet

import (
	"strconv"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// names finds devices by the ids that device plugins and drivers give them.
type names struct {
	gpus []gpu.GPU
}

// resolve says which device an id of a resource means, and which replica of it where it is shared. There is no device in
// what is no GPU, and a reason where it is one that cannot be told. A resource may be renamed, so that a UUID is one
// anywhere; a number means a GPU only where the resource's name says so.
//
//	NVIDIA's device plugin   GPU-…, MIG-…; replicas of it (time-slicing, MPS) GPU-…::0, GPU-…::1
//	by NVML's index          0, of its second instance 0:1; replicas 0::0, 0::1
//	GKE's device plugin      nvidia0, by the device file; of its GPU instance 3 nvidia0/gi3; replicas nvidia0/vgpu1
func (n names) resolve(resource, id string) (device, replica, reason string) {
	base, replica := split(id)
	if uuid := asUUID(base); uuid != "" {
		return uuid, replica, ""
	}
	if !isGPU(resource) {
		return "", "", ""
	}
	found, known := n.numbered(base)
	switch {
	case !known:
		return "", "", UnknownID
	case found == "":
		return "", "", UnknownNumber
	}
	return found, replica, ""
}

// split an id into the device's and the replica's, which is empty where there is none.
func split(id string) (base, replica string) {
	for _, mark := range [...]string{"::", "/vgpu"} {
		if base, replica, shared := strings.Cut(id, mark); shared && replica != "" {
			return base, replica
		}
	}
	return id, ""
}

// numbered is the device that numbers name, and whether they do.
func (n names) numbered(id string) (uuid string, known bool) {
	if file, isFile := strings.CutPrefix(id, "nvidia"); isFile {
		minor, instance, nested := strings.Cut(file, "/gi")
		g := n.one(number(minor), func(g *gpu.GPU) int { return g.Minor })
		if !nested {
			return whole(g), number(minor) >= 0
		}
		return instanceOf(g, number(instance)), number(minor) >= 0 && number(instance) >= 0
	}
	index, slot, nested := strings.Cut(id, ":")
	g := n.one(number(index), func(g *gpu.GPU) int { return g.Index })
	switch {
	case !nested:
		return whole(g), number(index) >= 0
	case g != nil && number(slot) >= 0 && number(slot) < len(g.Instances):
		return g.Instances[number(slot)].UUID, true
	}
	return "", number(index) >= 0 && number(slot) >= 0
}

// one is the GPU with a number, unless there are several or none.
func (n names) one(number int, of func(*gpu.GPU) int) *gpu.GPU {
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

func whole(g *gpu.GPU) string {
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

// number is a plain one of at most four digits, and −1 for what is none.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || len(s) > 4 {
		return -1
	}
	return int(n)
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
		n = max(n, number(replica)+1)
	}
	return n
}

// claimed is the device of a resource claim, and whether it is one of NVIDIA's DRA driver.
//
// A UUID stands in the CDI device's name where that is the container toolkit's (nvidia.com/gpu=GPU-…), or in the device's
// own. NVIDIA's DRA driver calls a GPU gpu-0 by its device file; the UUID in its k8s.gpu.nvidia.com/claim=UUID-gpu-0 is the
// claim's. What it calls an instance, gpu-0-mig-19-2-1, tells a profile and a place that no reading has.
func (n names) claimed(resource *podresources.ClaimResource) (uuid string, ours bool) {
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
	if !isGPU || number(minor) < 0 {
		return "", true
	}
	return whole(n.one(number(minor), func(g *gpu.GPU) int { return g.Minor })), true
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
		if uuid := strings.ToLower(s[len(kind):]); strings.EqualFold(s[:len(kind)], kind) && pods.IsUUID(uuid) {
			return kind + uuid
		}
	}
	return ""
}
