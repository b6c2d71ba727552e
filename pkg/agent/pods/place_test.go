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

const (
	uid    = uidLlama
	under  = "8e6b5a30_6f0e_4f7b_9a52_3d2c1b0a9f8e"
	hash   = "d41d8cd98f00b204e9800998ecf8427e"
	id     = idLlama
	other  = idEmbed
	inside = "1111111122222222333333334444444455555555666666667777777788888888"
)

func TestParsePlace(t *testing.T) {
	pod := pods.Place{Pod: uid, Container: id}
	static := pods.Place{Pod: hash, Container: id}
	relative := pods.Place{Pod: uid, Container: id, Relative: true}
	for _, test := range []struct {
		name string
		file string
		want pods.Place
	}{
		{"containerd, systemd, v2", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under +
			".slice/cri-containerd-" + id + ".scope", pod},
		{"a guaranteed pod has no level", "0::/kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"containerd, cgroupfs, v2", "0::/kubepods/besteffort/pod" + uid + "/" + id, pod},
		{"a guaranteed pod, cgroupfs", "0::/kubepods/pod" + uid + "/" + id, pod},
		{"CRI-O, systemd, crun", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under +
			".slice/crio-" + id + ".scope/container", pod},
		{"CRI-O, cgroupfs", "0::/kubepods/burstable/pod" + uid + "/crio-" + id, pod},
		{"docker, systemd", "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + under +
			".slice/docker-" + id + ".scope", pod},
		{"kind, seen from the node", "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/" +
			"kubelet-kubepods-burstable-pod" + under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"kind, seen from the machine", "0::/docker/" + other + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
			under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"k3s", "0::/k3s/kubepods/besteffort/pod" + uid + "/" + id, pod},
		{"a static pod", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + hash +
			".slice/cri-containerd-" + id + ".scope", static},
		{"a static pod, cgroupfs", "0::/kubepods/burstable/pod" + hash + "/" + id, static},
		{"v1, all hierarchies", "12:pids:/kubepods/burstable/pod" + uid + "/" + id + "\n11:cpuset:/kubepods/burstable/pod" + uid +
			"/" + id + "\n1:name=systemd:/kubepods/burstable/pod" + uid + "/" + id + "\n", pod},
		{"v1, where a hierarchy is not the runtime's", "12:misc:/\n3:cpu,cpuacct:/kubepods/burstable/pod" + uid + "/" + id +
			"\n1:name=systemd:/system.slice/containerd.service\n0::/system.slice/containerd.service\n", pod},
		{"v1, containerd by cgroupfs under a systemd kubelet", "5:memory:/system.slice/containerd.service/kubepods-besteffort-pod" +
			under + ".slice:cri-containerd:" + id, pod},
		{"a systemd in the container", "0::/kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id +
			".scope/system.slice/nginx.service", pod},
		{"a container in the container", "0::/kubepods/burstable/pod" + uid + "/" + id + "/docker/" + inside, pod},
		{"a node in the container", "0::/kubepods/burstable/pod" + uid + "/" + id + "/kubelet/kubepods/pod" + hash + "/" + inside, pod},
		{"a private namespace, systemd", "0::/../../kubepods-besteffort-pod" + under + ".slice/cri-containerd-" + id + ".scope", relative},
		{"a private namespace, another level", "0::/../../../kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id +
			".scope", relative},
		{"a private namespace, cgroupfs", "0::/../../pod" + uid + "/" + id, relative},
		{"a private namespace, the same pod", "0::/../cri-containerd-" + id + ".scope", pods.Place{Container: id, Relative: true}},
		{"a process that ended, not yet reaped", "0::/kubepods/pod" + uid + "/" + id + " (deleted)", pod},
		{"a pod, its container not entered yet", "0::/kubepods/pod" + uid, pods.Place{Pod: uid}},
		{"a container outside Kubernetes", "0::/system.slice/docker-" + id + ".scope", pods.Place{Container: id}},
		{"a service of the node", "0::/system.slice/nvidia-persistenced.service", pods.Place{}},
		{"a user's session", "0::/user.slice/user-1000.slice/session-3.scope", pods.Place{}},
		{"the root", "0::/", pods.Place{}},
		{"an id that is too short", "0::/kubepods/pod" + uid + "/" + id[1:], pods.Place{Pod: uid}},
		{"a slice that only begins as a pod", "0::/podman.slice/pod-1.slice", pods.Place{}},
		{"nothing", "", pods.Place{}},
		{"no cgroup file", "no such thing\n::", pods.Place{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := pods.ParsePlace(test.file); got != test.want {
				t.Errorf("%s\nis %+v\nwant %+v", test.file, got, test.want)
			}
		})
	}
}

// BenchmarkStep asks a kubelet over its socket, looks processes up in folders, and divides the use among pods: of 8 GPUs,
// each of 10 replicas, each replica a pod with 4 processes.
func BenchmarkStep(b *testing.B) {
	proc, logs := b.TempDir(), b.TempDir()
	replicas := &podresources.ContainerDevices{ResourceName: "nvidia.com/gpu"}
	node := &answers{list: listOf(), all: &podresources.AllocatableResourcesResponse{
		Devices: []*podresources.ContainerDevices{replicas},
	}}
	var reading gpu.Reading
	for n := range 80 {
		if n%10 == 0 {
			uuid := fmt.Sprintf("GPU-00000000-0000-4000-8000-%012d", n)
			reading.GPUs = append(reading.GPUs, gpu.GPU{UUID: uuid, Use: use(0.8, 0.4)})
		}
		g, container := &reading.GPUs[n/10], fmt.Sprintf("%064x", n)
		id := fmt.Sprintf("%s::%d", g.UUID, n%10)
		replicas.DeviceIds = append(replicas.DeviceIds, id)
		node.list.PodResources = append(node.list.PodResources, whole(fmt.Sprint("llama-", n), id))
		write(b, logs, fmt.Sprintf("containers/llama-%d_inference_server-%s.log", n, container), "")
		for pid := 4 * n; pid < 4*n+4; pid++ {
			g.Processes = append(g.Processes, process(pid, 0.03, 0.01))
			write(b, proc, strconv.Itoa(pid)+"/stat", statOf(pid, pid, "python3"))
			write(b, proc, strconv.Itoa(pid)+"/cgroup", in(uidLlama, container))
		}
	}
	kubelet, owners := lister(b, node), pods.NewOwners(os.DirFS(proc), os.DirFS(logs))
	b.ReportAllocs()
	for b.Loop() {
		held, err := kubelet.Holdings(b.Context(), reading)
		if err != nil {
			b.Fatal(err)
		}
		parts := pods.Attribute(reading, held.Holdings, owners.Lookup())
		if len(parts) != 80 || !strings.HasPrefix(parts[0].Pod, "llama-") || !parts[0].Busy.Known {
			b.Fatal(parts)
		}
	}
}

func write(tb testing.TB, folder, name, text string) {
	tb.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}
