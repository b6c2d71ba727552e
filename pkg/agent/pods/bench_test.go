package pods_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// crowd is a crowded node: 8 GPUs, each of 10 replicas, each replica a pod with 4 processes.
type crowd struct {
	reading gpu.Reading
	kubelet answers
	// proc and logs are folders, as the agent reads them; owners is what stands in them.
	proc, logs string
	holdings   []pods.Holding
	owners     map[int]pods.Container
}

func newCrowd(tb testing.TB) *crowd {
	tb.Helper()
	c := &crowd{proc: tb.TempDir(), logs: tb.TempDir(), owners: map[int]pods.Container{}}
	replicas := &podresources.ContainerDevices{ResourceName: "nvidia.com/gpu"}
	c.kubelet.all = &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{replicas}}
	c.kubelet.list = listOf()
	for g := range 8 {
		uuid := fmt.Sprintf("GPU-00000000-0000-4000-8000-%012d", g)
		var processes []gpu.Process
		for r := range 10 {
			n := 10*g + r
			id := fmt.Sprintf("%s::%d", uuid, r)
			who := pods.Container{Namespace: "inference", Pod: fmt.Sprintf("llama-%d", n), Name: "server"}
			c.holdings = append(c.holdings, pods.Holding{Container: who, Device: uuid, Allocated: 0.1})
			replicas.DeviceIds = append(replicas.DeviceIds, id)
			c.kubelet.list.PodResources = append(c.kubelet.list.PodResources, holdsOne(who, id))
			container := fmt.Sprintf("%064x", n)
			file(tb, c.logs, fmt.Sprintf("containers/%s_%s_%s-%s.log", who.Pod, who.Namespace, who.Name, container), "")
			for range 4 {
				pid := 1000 + len(c.owners)
				c.owners[pid] = who
				processes = append(processes, process(pid, 0.03, 0.01))
				file(tb, c.proc, strconv.Itoa(pid)+"/stat",
					fmt.Sprintf("%d (python3) S 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 %d 1234 56\n", pid, pid))
				file(
					tb,
					c.proc,
					strconv.Itoa(pid)+"/cgroup",
					fmt.Sprintf("0::/kubepods.slice/kubepods-burstable.slice/"+
						"kubepods-burstable-pod00000000_0000_4000_8000_%012d.slice/cri-containerd-%s.scope\n", n, container),
				)
			}
		}
		c.reading.GPUs = append(c.reading.GPUs, gpu.GPU{UUID: uuid, Index: g, Use: gpu.Use{
			Busy: samples(0.8, 0.9), Bandwidth: samples(0.4, 0.3), Processes: processes,
		}})
	}
	return c
}

func holdsOne(c pods.Container, device string) *podresources.PodResources {
	return &podresources.PodResources{
		Namespace: c.Namespace, Name: c.Pod, Containers: []*podresources.ContainerResources{{
			Name: c.Name, Devices: []*podresources.ContainerDevices{{
				ResourceName: "nvidia.com/gpu", DeviceIds: []string{device},
			}},
		}},
	}
}

func file(tb testing.TB, folder, name, text string) {
	tb.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkAttribute is the arithmetic alone.
func BenchmarkAttribute(b *testing.B) {
	c := newCrowd(b)
	owner := whose(c.owners)
	b.ReportAllocs()
	for b.Loop() {
		if parts := pods.Attribute(c.reading, c.holdings, owner); len(parts) != 80 {
			b.Fatal(len(parts))
		}
	}
}

// BenchmarkOwners is a look at 320 processes that were there at the look before: a file of each.
func BenchmarkOwners(b *testing.B) {
	c := newCrowd(b)
	o := pods.NewOwners(os.DirFS(c.proc), os.DirFS(c.logs))
	b.ReportAllocs()
	for b.Loop() {
		of := o.Lookup()
		for pid := range c.owners {
			if _, known := of(pid); !known {
				b.Fatal(pid)
			}
		}
	}
}

// BenchmarkStep is all of a step: a kubelet asked over its socket, processes looked up, parts.
func BenchmarkStep(b *testing.B) {
	c := newCrowd(b)
	lister := lister(b, &c.kubelet)
	o := pods.NewOwners(os.DirFS(c.proc), os.DirFS(c.logs))
	b.ReportAllocs()
	for b.Loop() {
		held, err := lister.Holdings(b.Context(), c.reading)
		if err != nil {
			b.Fatal(err)
		}
		parts := pods.Attribute(c.reading, held.Holdings, o.Lookup())
		if len(parts) != 80 || !strings.HasPrefix(parts[0].Pod, "llama-") || !parts[0].Busy.Known {
			b.Fatal(parts)
		}
	}
}
