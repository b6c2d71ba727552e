package pods_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
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

func held(device string, allocated float64, pod string) pods.Holding {
	return pods.Holding{
		Container: pods.Container{
			Namespace: "inference",
			Pod:       pod,
			Name:      "server",
		},
		Device:    device,
		Allocated: allocated,
	}
}

// holding is a pod's container with devices, in protobuf's text form.
func holding(pod, devices string) string {
	return `pod_resources { namespace: "inference" name: "` + pod + `" containers { name: "server" ` + devices + ` } }` + "\n"
}

func devices(resource, ids string) string {
	return `devices { resource_name: "` + resource + `" device_ids: [` + ids + `] }`
}

func TestHoldings(t *testing.T) {
	t.Parallel()
	fourOfA := devices("nvidia.com/gpu", `"`+gpuA+`::0", "`+gpuA+`::1", "`+gpuA+`::2", "`+gpuA+`::3"`)
	for _, test := range []struct {
		name      string
		list, all string // where all is empty the kubelet forbids to ask
		want      pods.Held
	}{
		{
			"a whole GPU",
			holding("llama", devices("cpu", `"1"`)+devices("nvidia.com/gpu", `"`+gpuA+`"`)),
			devices("nvidia.com/gpu", `"`+gpuA+`"`),
			pods.Held{Holdings: []pods.Holding{held(gpuA, 1, "llama")}},
		},
		{
			"replicas of a GPU, of which one is free and a container holds two",
			holding("llama", devices("nvidia.com/gpu", `"`+gpuA+`::3"`)) +
				holding("embed", devices("nvidia.com/gpu", `"`+gpuA+`::0"`)+devices("nvidia.com/gpu", `"`+gpuA+`::1"`)),
			fourOfA,
			pods.Held{Holdings: []pods.Holding{held(gpuA, 0.5, "embed"), held(gpuA, 0.25, "llama")}},
		},
		{
			"replicas under a name of their own",
			holding("llama", devices("nvidia.com/gpu.shared", `"`+gpuA+`::0"`)),
			devices("nvidia.com/gpu.shared", `"`+gpuA+`::0", "`+gpuA+`::1"`),
			pods.Held{Holdings: []pods.Holding{held(gpuA, 0.5, "llama")}},
		},
		{
			"a resource of any name, by what its ids look like",
			holding("llama", devices("example.com/slice", `"`+gpuA+`::0"`)+devices("example.com/nic", `"0", "0000:3b:00.1"`)),
			devices("example.com/slice", `"`+gpuA+`::0", "`+gpuA+`::1"`),
			pods.Held{Holdings: []pods.Holding{held(gpuA, 0.5, "llama")}},
		},
		{
			"replicas that were counted by those that are held, and their numbers",
			holding("llama", devices("nvidia.com/gpu", `"`+gpuA+`::3"`)) +
				holding("embed", devices("nvidia.com/gpu", `"`+gpuA+`::0"`)),
			"",
			pods.Held{
				Holdings:  []pods.Holding{held(gpuA, 0.25, "embed"), held(gpuA, 0.25, "llama")},
				Estimated: true,
			},
		},
		{
			"a GPU that is not healthy is not allocatable, though it is held",
			holding("llama", devices("nvidia.com/gpu", `"`+gpuA+`::0"`)) +
				holding("embed", devices("nvidia.com/gpu", `"`+gpuA+`::1"`)),
			devices("nvidia.com/gpu", `"`+gpuB+`::0"`),
			pods.Held{
				Holdings:  []pods.Holding{held(gpuA, 0.5, "embed"), held(gpuA, 0.5, "llama")},
				Estimated: true,
			},
		},
		{
			"MIG instances, one whole and one in replicas",
			holding("llama", devices("nvidia.com/mig-1g.10gb", `"`+migA+`"`)) +
				holding("embed", devices("nvidia.com/mig-1g.10gb.shared", `"`+migB+`::1"`)),
			devices("nvidia.com/mig-1g.10gb.shared", `"`+migB+`::0", "`+migB+`::1"`),
			pods.Held{Holdings: []pods.Holding{held(migA, 1, "llama"), held(migB, 0.5, "embed")}},
		},
		{
			"GPUs and instances by NVML's index",
			holding("llama", devices("nvidia.com/gpu", `"0::2"`)) + holding("embed", devices("nvidia.com/mig-1g.10gb", `"1:1"`)),
			devices("nvidia.com/gpu", `"0::0", "0::1", "0::2", "0::3"`),
			pods.Held{Holdings: []pods.Holding{held(gpuA, 0.25, "llama"), held(migB, 1, "embed")}},
		},
		{
			"GPUs and instances by their device files, as on GKE",
			holding("llama", devices("nvidia.com/gpu", `"nvidia1/vgpu0"`)) + holding("embed", devices("nvidia.com/gpu", `"nvidia0/gi5"`)) +
				holding("rerank", devices("nvidia.com/gpu", `"nvidia0/gi3/vgpu1"`)),
			devices("nvidia.com/gpu", `"nvidia1/vgpu0", "nvidia1/vgpu1", "nvidia0/gi3/vgpu0", "nvidia0/gi3/vgpu1"`),
			pods.Held{Holdings: []pods.Holding{held(gpuA, 0.5, "llama"), held(migA, 0.5, "rerank"), held(migB, 1, "embed")}},
		},
		{
			"what cannot be told is counted",
			holding("llama", devices("nvidia.com/gpu", `"2", "1:2", "nvidia0/gi1", "nvidia7", "-1", "0:x", "`+gpuA+`-0", "nvidia", "nvidia0/x", "`+gpuA+`::"`)+
				devices("nvidia.com/GP102GL_Tesla_P40", `"0000:65:00.0"`)),
			devices("nvidia.com/gpu", `"nonsense"`),
			pods.Held{Unidentified: map[string]int{pods.UnknownNumber: 4, pods.UnknownID: 6}},
		},
		{
			"claims whose CDI devices or names hold a UUID",
			holding("llama", `dynamic_resources { claim_name: "c" claim_namespace: "inference" claim_resources {
				cdi_devices { name: "nvidia.com/gpu=`+gpuA+`" } driver_name: "gpu.nvidia.com" device_name: "gpu-0" } }`) +
				holding("embed", `dynamic_resources { claim_name: "d" claim_resources { driver_name: "gpu.example.com"
				device_name: "gpu-5f3c1a2b-8d21-4c3e-9a77-0123456789bb" } }`),
			"cpu_ids: 1",
			pods.Held{Holdings: []pods.Holding{held(gpuA, 1, "llama"), held(gpuB, 1, "embed")}},
		},
		{
			"a claim that two pods share",
			holding("llama", `dynamic_resources { claim_name: "c" claim_resources { cdi_devices { name: "x/gpu=`+migA+`" } } }`) +
				holding("embed", `dynamic_resources { claim_name: "c" claim_resources { cdi_devices { name: "x/gpu=`+migA+`" } } }`),
			"cpu_ids: 1",
			pods.Held{Holdings: []pods.Holding{held(migA, 0.5, "embed"), held(migA, 0.5, "llama")}},
		},
		{
			"NVIDIA's DRA driver names a GPU by its device file, and a claim's UUID is no GPU's",
			holding("llama", `dynamic_resources { claim_name: "c" claim_resources {
				cdi_devices { name: "k8s.gpu.nvidia.com/device=gpu-1" }
				cdi_devices { name: "k8s.gpu.nvidia.com/claim=5f3c1a2b-8d21-4c3e-9a77-0123456789aa-gpu-1" }
				driver_name: "gpu.nvidia.com" pool_name: "node" device_name: "gpu-1" } }`),
			"cpu_ids: 1",
			pods.Held{Holdings: []pods.Holding{held(gpuA, 1, "llama")}},
		},
		{
			"what it calls an instance does not tell which; a channel is no GPU",
			holding("llama", `dynamic_resources { claim_name: "c" claim_resources {
				cdi_devices { name: "k8s.gpu.nvidia.com/device=gpu-0-mig-19-2-1" }
				driver_name: "gpu.nvidia.com" pool_name: "node" device_name: "gpu-0-mig-19-2-1" } }`) +
				holding("imex", `dynamic_resources { claim_name: "c" claim_resources {
				cdi_devices { name: "k8s.compute-domain.nvidia.com/device=channel-0" }
				driver_name: "compute-domain.nvidia.com" device_name: "channel-0" } }`),
			"cpu_ids: 1",
			pods.Held{Unidentified: map[string]int{pods.UnreadableClaim: 1}},
		},
		{"a node without GPU pods", holding("web", devices("smarter-devices/fuse", `"fuse_0"`)), "cpu_ids: 1", pods.Held{}},
		{"an empty node", "", "", pods.Held{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			node := &answers{
				list: &podresources.ListPodResourcesResponse{},
				all:  &podresources.AllocatableResourcesResponse{},
			}
			if err := prototext.Unmarshal([]byte(test.list), node.list); err != nil {
				t.Fatal(err)
			}
			if err := prototext.Unmarshal([]byte(test.all), node.all); err != nil {
				t.Fatal(err)
			}
			if test.all == "" {
				node.err = status.Error(codes.PermissionDenied, "not allowed")
			}
			got, err := lister(t, node).Holdings(t.Context(), reading)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHoldingsByANumberThatTwoHave(t *testing.T) {
	t.Parallel()
	twins := gpu.Reading{GPUs: []gpu.GPU{{UUID: gpuA, Index: 0}, {UUID: gpuB, Index: 1}}} // device files were not read
	want := pods.Held{Unidentified: map[string]int{pods.UnknownNumber: 1}}
	got := pods.Read(listOf(whole("llama", "nvidia0")), &podresources.AllocatableResourcesResponse{}, twins)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a pod got one of two GPUs by guess:\n%s", diff)
	}
}
