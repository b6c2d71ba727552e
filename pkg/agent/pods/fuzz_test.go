package pods_test

import (
	"strconv"
	"strings"
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

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (python3) S 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 100 1234 56\n"))
	f.Add([]byte("7 (a) b) (c) R 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 18446744073709551615"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, file []byte) {
		comm, start, err := pods.ParseStat(file)
		if err != nil {
			return
		}
		if !strings.Contains(string(file), "("+comm+")") {
			t.Errorf("%q is no comm in %q", comm, file)
		}
		after := strings.Fields(string(file)[strings.LastIndex(string(file), ")")+1:])
		if got, err := strconv.ParseUint(after[19], 10, 64); err != nil || got != start {
			t.Errorf("start %d, want field 22 of %q", start, file)
		}
	})
}

func FuzzParseLink(f *testing.F) {
	f.Add("llama-0_inference_server-vllm-" + idLlama + ".log")
	f.Add("a_b_-" + idLlama + ".log")
	f.Add("_b_c-" + idLlama + ".log")
	f.Fuzz(func(t *testing.T, link string) {
		id, c, ok := pods.ParseLink(link)
		if again := c.Pod + "_" + c.Namespace + "_" + c.Name + "-" + id + ".log"; ok && again != link {
			t.Errorf("%q is read as %q", link, again)
		}
		if ok && (c.Pod == "" || c.Namespace == "" || c.Name == "" || len(id) != 64) {
			t.Errorf("%q: %+v, %q is no container", link, c, id)
		}
	})
}

func FuzzParseFolder(f *testing.F) {
	f.Add("inference_llama-0_" + uidLlama)
	f.Add("__")
	f.Fuzz(func(t *testing.T, folder string) {
		uid, namespace, name, ok := pods.ParseFolder(folder)
		if ok && namespace+"_"+name+"_"+uid != folder {
			t.Errorf("%q is read as %q, %q, %q", folder, namespace, name, uid)
		}
	})
}

func FuzzParsePlace(f *testing.F) {
	f.Add("0::/kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id + ".scope\n")
	f.Add("12:pids:/kubepods/burstable/pod" + uid + "/" + id + " (deleted)\n0::/../..")
	f.Add("5:memory:/kubepods-pod" + hash + ".slice:cri-containerd:" + id)
	f.Fuzz(func(t *testing.T, file string) {
		p := pods.ParsePlace(file)
		if p.Container != "" && (!pods.IsContainerID(p.Container) || !strings.Contains(file, p.Container)) {
			t.Errorf("%q is no container's id", p.Container)
		}
		written := strings.Contains(file, p.Pod) || strings.Contains(file, strings.ReplaceAll(p.Pod, "-", "_"))
		if p.Pod != "" && len(p.Pod) != len(uid) && len(p.Pod) != len(hash) {
			t.Errorf("%q is no pod's UID", p.Pod)
		}
		if p.Pod != "" && !written && !strings.Contains(file, "_") {
			t.Errorf("%q was made up", p.Pod)
		}
	})
}
