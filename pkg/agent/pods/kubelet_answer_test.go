package pods_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

const (
	gpuA = "GPU-5f3c1a2b-8d21-4c3e-9a77-0123456789aa"
	gpuB = "GPU-5f3c1a2b-8d21-4c3e-9a77-0123456789bb"
	migA = "MIG-1f6b0c7e-2a55-5b0d-8c11-fedcba98760a"
	migB = "MIG-1f6b0c7e-2a55-5b0d-8c11-fedcba98760b"
)

// reading has GPU 0 whole and GPU 1 in two instances; their device files are numbered the other way round.
var reading = gpu.Reading{GPUs: []gpu.GPU{
	{UUID: gpuB, Index: 1, Minor: 0, Instances: []gpu.Instance{{UUID: migA, ID: 3}, {UUID: migB, ID: 5}}},
	{UUID: gpuA, Index: 0, Minor: 1},
}}

// answersOf are a kubelet's answers. The list has "POD RESOURCE ID…" for a device plugin's devices and "POD claim DRIVER
// DEVICE CDI…" for a resource claim, the allocatable devices "RESOURCE ID…"; without those the kubelet forbids to ask.
func answersOf(list, allocatable string) *answers {
	full := strings.NewReplacer(
		"gpuA",
		gpuA,
		"gpuB",
		gpuB,
		"migA",
		migA,
		"migB",
		migB,
		"uuidA",
		gpuA[4:],
		"uuidB",
		gpuB[4:],
	)
	devices := func(words []string) *podresources.ContainerDevices {
		return &podresources.ContainerDevices{ResourceName: words[0], DeviceIds: words[1:]}
	}
	node := &answers{list: listOf(), all: &podresources.AllocatableResourcesResponse{}}
	for entry := range strings.SplitSeq(full.Replace(list), "; ") {
		words := strings.Fields(entry)
		pod := whole(words[0], "")
		c := pod.Containers[0]
		c.Devices = []*podresources.ContainerDevices{devices(words[1:])}
		if words[1] == "claim" {
			claim := &podresources.ClaimResource{DriverName: words[2], DeviceName: words[3]}
			for _, name := range words[4:] {
				claim.CdiDevices = append(claim.CdiDevices, &podresources.CDIDevice{Name: name})
			}
			c.Devices = nil
			c.DynamicResources = []*podresources.DynamicResource{{ClaimResources: []*podresources.ClaimResource{claim}}}
		}
		node.list.PodResources = append(node.list.PodResources, pod)
	}
	if allocatable == "" {
		node.err = status.Error(codes.PermissionDenied, "not allowed")
	} else {
		node.all.Devices = append(node.all.Devices, devices(strings.Fields(full.Replace(allocatable))))
	}
	return node
}

// shown is "POD DEVICE SHARE", and what could not be told.
func shown(h pods.Held) string {
	short := strings.NewReplacer(gpuA, "gpuA", gpuB, "gpuB", migA, "migA", migB, "migB")
	var out []string
	for _, one := range h.Holdings {
		out = append(out, fmt.Sprint(one.Container.Pod, " ", short.Replace(one.Device), " ", one.Allocated))
	}
	for reason, n := range h.Unidentified {
		out = append(out, fmt.Sprint(n, " ", reason))
	}
	slices.Sort(out)
	if h.Estimated {
		out = append(out, "estimated")
	}
	return strings.Join(out, "; ")
}

func TestHoldings(t *testing.T) {
	t.Parallel()
	try := func(name, list, allocatable, want string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held, err := lister(t, answersOf(list, allocatable)).Holdings(t.Context(), reading)
			if got := shown(held); got != want || err != nil {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		})
	}
	fourOfA := "nvidia.com/gpu gpuA::0 gpuA::1 gpuA::2 gpuA::3"
	try("a whole GPU", "llama cpu 1; llama nvidia.com/gpu gpuA", "nvidia.com/gpu gpuA", "llama gpuA 1")
	try("replicas of a GPU, of which one is free and a container holds two",
		"llama nvidia.com/gpu gpuA::3; embed nvidia.com/gpu gpuA::0; embed nvidia.com/gpu gpuA::1", fourOfA,
		"embed gpuA 0.5; llama gpuA 0.25")
	try("replicas under a name of their own", "llama nvidia.com/gpu.shared gpuA::0",
		"nvidia.com/gpu.shared gpuA::0 gpuA::1", "llama gpuA 0.5")
	try("a resource of any name, by what its ids look like",
		"llama example.com/slice gpuA::0; llama example.com/nic 0 0000:3b:00.1", "example.com/slice gpuA::0 gpuA::1",
		"llama gpuA 0.5")
	try("replicas that were counted by those that are held, and their numbers",
		"llama nvidia.com/gpu gpuA::3; embed nvidia.com/gpu gpuA::0", "", "embed gpuA 0.25; llama gpuA 0.25; estimated")
	try("a GPU that is not healthy is not allocatable, though it is held",
		"llama nvidia.com/gpu gpuA::0; embed nvidia.com/gpu gpuA::1", "nvidia.com/gpu gpuB::0",
		"embed gpuA 0.5; llama gpuA 0.5; estimated")
	try("MIG instances, one whole and one in replicas",
		"llama nvidia.com/mig-1g.10gb migA; embed nvidia.com/mig-1g.10gb.shared migB::1",
		"nvidia.com/mig-1g.10gb.shared migB::0 migB::1", "embed migB 0.5; llama migA 1")
	try("GPUs and instances by NVML's index", "llama nvidia.com/gpu 0::2; embed nvidia.com/mig-1g.10gb 1:1",
		"nvidia.com/gpu 0::0 0::1 0::2 0::3", "embed migB 1; llama gpuA 0.25")
	try("GPUs and instances by their device files, as on GKE",
		"llama nvidia.com/gpu nvidia1/vgpu0; embed nvidia.com/gpu nvidia0/gi5; rerank nvidia.com/gpu nvidia0/gi3/vgpu1",
		"nvidia.com/gpu nvidia1/vgpu0 nvidia1/vgpu1 nvidia0/gi3/vgpu0 nvidia0/gi3/vgpu1",
		"embed migB 1; llama gpuA 0.5; rerank migA 0.5")
	try("what cannot be told is counted",
		"llama nvidia.com/gpu 2 1:2 nvidia0/gi1 nvidia7 -1 0:x gpuA-x nvidia nvidia0/x gpuA::; "+
			"llama nvidia.com/GP102GL_Tesla_P40 0000:65:00.0",
		"nvidia.com/gpu nonsense", "4 UnknownNumber; 6 UnknownID")
	try("shares whose GPU HAMi, Volcano and vCUDA chose: the ids do not tell which",
		"llama nvidia.com/gpu gpuA-3 gpuA-7; embed volcano.sh/vgpu-number gpuB-0; "+
			"rerank tencent.com/vcuda-core tencent.com/vcuda-core-12 tencent.com/vcuda-core-13; "+
			"rerank tencent.com/vcuda-memory tencent.com/vcuda-memory-268435456-5",
		"nvidia.com/gpu gpuA-0 gpuA-1", "3 ChosenByExtender; embed  0; llama  0; rerank  0")
	try("claims whose CDI devices or names hold a UUID",
		"llama claim gpu.nvidia.com gpu-0 nvidia.com/gpu=gpuA; embed claim gpu.example.com gpu-uuidB", "cpu",
		"embed gpuB 1; llama gpuA 1")
	try("a claim that two pods share", "llama claim x y x/gpu=migA; embed claim x y x/gpu=migA", "cpu",
		"embed migA 0.5; llama migA 0.5")
	try("two GPUs of a claim, and two claims of a pod",
		"llama claim gpu.nvidia.com gpu-1 nvidia.com/gpu=gpuA; llama claim gpu.nvidia.com gpu-0 nvidia.com/gpu=gpuB",
		"cpu", "llama gpuA 1; llama gpuB 1")
	try("NVIDIA's DRA driver names a GPU by its device file, and a claim's UUID is no GPU's",
		"llama claim gpu.nvidia.com gpu-1 k8s.gpu.nvidia.com/device=gpu-1 k8s.gpu.nvidia.com/claim=uuidA-gpu-1", "cpu",
		"llama gpuA 1")
	try("what it calls an instance does not tell which; a channel is no GPU",
		"llama claim gpu.nvidia.com gpu-0-mig-19-2-1 k8s.gpu.nvidia.com/device=gpu-0-mig-19-2-1; "+
			"imex claim compute-domain.nvidia.com channel-0 k8s.compute-domain.nvidia.com/device=channel-0",
		"cpu", "1 UnreadableClaim")
	try("a node without GPU pods", "web smarter-devices/fuse fuse_0", "cpu", "")
}

func TestHoldingsOfNothing(t *testing.T) {
	t.Parallel()
	none := &podresources.AllocatableResourcesResponse{}
	if got := shown(pods.Read(listOf(), nil, reading)); got != "" {
		t.Errorf("an empty node: %s", got)
	}
	// The device files were not read.
	twins := gpu.Reading{GPUs: []gpu.GPU{{UUID: gpuA, Index: 0}, {UUID: gpuB, Index: 1}}}
	if got := shown(pods.Read(listOf(whole("llama", "nvidia0")), none, twins)); got != "1 UnknownNumber" {
		t.Errorf("a pod got one of two GPUs by guess: %s", got)
	}
}
