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
