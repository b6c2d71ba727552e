package pods

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// KubeletSocket is a kubelet's default socket.
const KubeletSocket = "/var/lib/kubelet/pod-resources/kubelet.sock"

const (
	// callTimeout is the timeout of a call. A kubelet answers from memory within milliseconds.
	callTimeout = 2 * time.Second
	// maxAnswer limits the size of an answer, in bytes. 500 pods at 8 KiB each fit. A larger answer is an error, because the agent has only 40
	// MB of memory.
	maxAnswer = 4 << 20
)

// Lister lists the holdings of one kubelet. It is not safe for concurrent use.
type Lister struct {
	conn   *grpc.ClientConn
	client podresources.PodResourcesListerClient
	// replicas has the replicas of each shared device that is held, as the kubelet last reported them.
	replicas map[string]set
}

// DialKubelet makes a lister for a socket. It does not open the socket: a kubelet may start, stop and start again later.
func DialKubelet(socket string) (*Lister, error) {
	if socket == "" {
		return nil, errors.New(
			"the path of the kubelet's pod-resources socket is not set: write the usual path, " + KubeletSocket,
		)
	}
	// The delays are short, so that the connection to a restarted kubelet is back within one step.
	again := backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: callTimeout}
	conn, err := grpc.NewClient(
		"unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // A unix socket, protected by its folder's mode.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: callTimeout}),
	)
	if err != nil {
		return nil, fmt.Errorf("the kubelet's pod-resources socket %s: %w", socket, err)
	}
	return &Lister{conn: conn, client: podresources.NewPodResourcesListerClient(conn)}, nil
}

// Holdings lists the holdings now. The reading maps indexes to UUIDs where a device plugin names devices by their
// index. It fails where the kubelet is not there, does not answer within two seconds, or its answer cannot be read.
func (l *Lister) Holdings(ctx context.Context, reading gpu.Reading) (Held, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := l.client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return Held{}, fmt.Errorf("list the kubelet's pod resources: %w", err)
	}
	all, err := l.client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil && isTransient(err) {
		return Held{}, fmt.Errorf("list the kubelet's allocatable resources: %w", err)
	}
	held, replicas := readAnswers(list, all, reading, l.replicas)
	l.replicas = replicas
	return held, nil
}

// isTransient reports whether a retry may succeed. Otherwise the kubelet is too old for the call or is configured not to answer it. In that
// case, the replicas are derived from those that are held.
func isTransient(err error) bool {
	transient := []codes.Code{codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted}
	return slices.Contains(transient, status.Code(err))
}

// Close ends the connection.
func (l *Lister) Close() error { return l.conn.Close() }

// deviceNames has the UUIDs of GPUs and instances by the numbered names that device plugins give them. The UUID is empty if several devices
// have the same name: GPUs whose device files were not read, or compute instances of one GPU instance.
type deviceNames map[string]string

func namesOf(gpus []gpu.GPU) deviceNames {
	names := deviceNames{}
	add := func(name, uuid string) {
		if _, twice := names[name]; twice {
			uuid = ""
		}
		names[name] = uuid
	}
	for _, g := range gpus {
		add(strconv.Itoa(g.Index), g.UUID)
		add("nvidia"+strconv.Itoa(g.Minor), g.UUID)
	}
	for _, g := range gpus {
		index, file := strconv.Itoa(g.Index), "nvidia"+strconv.Itoa(g.Minor)
		for i := range g.Instances {
			if names[index] == g.UUID {
				add(index+":"+strconv.Itoa(i), g.Instances[i].UUID)
			}
			if names[file] == g.UUID {
				add(file+"/gi"+strconv.Itoa(g.Instances[i].ID), g.Instances[i].UUID)
			}
		}
	}
	return names
}

var (
	// byNumber matches the forms of deviceNames.
	byNumber = regexp.MustCompile(`^(\d{1,4}(:\d{1,4})?|nvidia\d{1,4}(/gi\d{1,4})?)$`)
	// byExtender matches the ids of a share whose GPU was chosen by a scheduler extender: those of the device plugin of HAMi and Volcano (a
	// GPU's UUID and a number), and those of vCUDA. The plugin gives the container the GPU that its scheduler wrote on the pod, independent of
	// the id that the kubelet selected (Project-HAMi/HAMi, nvinternal/plugin/server.go, Allocate; tkestack/gpu-manager,
	// pkg/services/allocator/nvidia/allocator.go).
	byExtender = regexp.MustCompile(`(?i)^(GPU(-[0-9a-f]+){5}|tencent\.com/vcuda-core)-\d{1,6}$`)
	// byUUID matches a UUID at the end of a name. The UUID is the whole name or follows a separator.
	byUUID = regexp.MustCompile(`(?i)(^|[=-])(GPU|MIG)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
)

// resolve returns the device that an id of a resource means, and its replica where it is shared. The device is empty
// where the resource is not a GPU, and reason is set where it is one that cannot be identified. Resources can be
// renamed, so a UUID counts in any resource; a number means a GPU only where the resource's name is that of one.
//
//	NVIDIA's device plugin   GPU-…, MIG-…; replicas of it (time-slicing, MPS) GPU-…::0, GPU-…::1
//	by NVML's index          0, of its second instance 0:1; replicas 0::0, 0::1
//	HAMi, vCUDA              GPU-…-0, tencent.com/vcuda-core-0: not which GPU
//	GKE's device plugin      nvidia0, by the device file; of its GPU instance 3 nvidia0/gi3; replicas nvidia0/vgpu1
func (n deviceNames) resolve(resource, id string) (device, replica, reason string) {
	base, replica := splitReplica(id)
	uuid, whole := lastUUID(base)
	switch {
	case byExtender.MatchString(id):
		return "", "", ChosenByExtender
	case whole:
		return uuid, replica, ""
	case !isGPU(resource):
		return "", "", ""
	case !byNumber.MatchString(base):
		return "", "", UnknownID
	case n[base] == "":
		return "", "", UnknownNumber
	}
	return n[base], replica, ""
}

// splitReplica splits an id into the ids of the device and of the replica. The latter is empty if there is none.
func splitReplica(id string) (base, replica string) {
	for _, mark := range [...]string{"::", "/vgpu"} {
		if base, replica, shared := strings.Cut(id, mark); shared && replica != "" {
			return base, replica
		}
	}
	return id, ""
}

// isGPU reports whether a resource stands for GPUs: nvidia.com/gpu, nvidia.com/gpu.shared, nvidia.com/mig-1g.10gb.
func isGPU(resource string) bool {
	name, nvidia := strings.CutPrefix(resource, "nvidia.com/")
	return nvidia && (name == "gpu" || strings.HasPrefix(name, "gpu.") || strings.HasPrefix(name, "mig-"))
}

// countReplicas returns the number of a device's replicas. They are numbered from 0, so the highest number also accounts for unknown
// replicas.
func countReplicas(replicas set) int {
	n := len(replicas)
	for replica := range replicas {
		if number, err := strconv.ParseUint(replica, 10, 16); err == nil && len(replica) <= 4 {
			n = max(n, int(number)+1)
		}
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
		if uuid, _ = lastUUID(cdi.GetName()); uuid != "" {
			return uuid, true
		}
	}
	name := resource.GetDeviceName()
	if uuid, _ = lastUUID(name); uuid != "" || resource.GetDriverName() != "gpu.nvidia.com" {
		return uuid, false
	}
	minor, isGPU := strings.CutPrefix(name, "gpu-")
	if _, err := strconv.ParseUint(minor, 10, 16); !isGPU || err != nil {
		return "", true
	}
	return n["nvidia"+minor], true
}

// lastUUID returns the UUID at the end of a name, as the driver writes it, and whether it is the whole name. It is empty if there is none.
// Names in Kubernetes have no capital letters.
func lastUUID(name string) (uuid string, whole bool) {
	found := byUUID.FindStringSubmatch(name)
	if found == nil {
		return "", false
	}
	return strings.ToUpper(found[2]) + "-" + strings.ToLower(found[3]), found[1] == ""
}
