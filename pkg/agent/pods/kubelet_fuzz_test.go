package pods_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// FuzzRead: whatever a kubelet says, a holding is of a device that can be one, once for each container, and a share.
func FuzzRead(f *testing.F) {
	for _, id := range []string{gpuA, gpuA + "::1", migA, "0", "1:1", "0::70000", "nvidia0/gi3/vgpu1", "nvidia1", "::", "-1:-1", "GPU-"} {
		f.Add("nvidia.com/gpu", id, id+"::2", "k8s.gpu.nvidia.com/claim="+id)
	}
	f.Fuzz(func(t *testing.T, resource, id, other, cdi string) {
		pod := whole("llama", id)
		c := pod.Containers[0]
		c.Devices = []*podresources.ContainerDevices{{ResourceName: resource, DeviceIds: []string{id, other, id}}, nil}
		c.DynamicResources = []*podresources.DynamicResource{nil, {ClaimResources: []*podresources.ClaimResource{
			nil,
			{DriverName: "gpu.nvidia.com", DeviceName: id, CdiDevices: []*podresources.CDIDevice{nil, {Name: cdi}}},
		}}}
		all := &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{
			nil, {ResourceName: resource, DeviceIds: []string{other}},
		}}
		check(t, pods.Read(listOf(pod, nil), all, reading))
		check(t, pods.Read(listOf(pod), nil, gpu.Reading{}))
	})
}

// FuzzReadBytes is the same of anything that is an answer by its bytes.
func FuzzReadBytes(f *testing.F) {
	seed, err := proto.Marshal(listOf(whole("llama", gpuA+"::1"), whole("embed", "1:0")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, wire []byte) {
		var list podresources.ListPodResourcesResponse
		if proto.Unmarshal(wire, &list) == nil {
			check(t, pods.Read(&list, nil, reading))
		}
	})
}

func check(t *testing.T, answer pods.Held) {
	t.Helper()
	type series struct {
		container pods.Container
		device    string
	}
	seen := map[series]bool{}
	for _, h := range answer.Holdings {
		if !(h.Allocated > 0 && h.Allocated <= 1) {
			t.Errorf("%+v is no share", h)
		}
		if len(h.Device) != len(gpuA) || (h.Device[:4] != "GPU-" && h.Device[:4] != "MIG-") {
			t.Errorf("%+v is of no device", h)
		}
		s := series{h.Container, h.Device}
		if seen[s] {
			t.Errorf("%+v is there twice", h)
		}
		seen[s] = true
	}
	for reason, n := range answer.Unidentified {
		if reason == "" || n <= 0 {
			t.Errorf("%d left out, for %q", n, reason)
		}
	}
}
