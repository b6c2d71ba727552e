package kubelet_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
	"github.com/forewarm/forewarm/pkg/agent/pods/kubelet"
)

// answers is a kubelet's pod-resources server with fixed answers.
type answers struct {
	podresources.UnimplementedPodResourcesListerServer

	list *podresources.ListPodResourcesResponse
	all  *podresources.AllocatableResourcesResponse
	err  error // of GetAllocatableResources
}

func (a answers) List(
	context.Context, *podresources.ListPodResourcesRequest,
) (*podresources.ListPodResourcesResponse, error) {
	return a.list, nil
}

func (a answers) GetAllocatableResources(
	context.Context, *podresources.AllocatableResourcesRequest,
) (*podresources.AllocatableResourcesResponse, error) {
	return a.all, a.err
}

// socket is a path for a unix socket, which may have some hundred letters at most.
func socket(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "kubelet") //nolint:usetesting // t.TempDir is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(folder, "s")
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// serve a kubelet on a socket until the test or the returned function stops it.
func serve(t *testing.T, path string, lister podresources.PodResourcesListerServer) (stop func()) {
	t.Helper()
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, lister)
	return start(t, path, server)
}

func start(t *testing.T, path string, server *grpc.Server) (stop func()) {
	t.Helper()
	listener := listen(t, path)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func dial(t *testing.T, path string) *kubelet.Lister {
	t.Helper()
	lister, err := kubelet.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lister.Close(); err != nil {
			t.Error(err)
		}
	})
	return lister
}

func whole(pod, uuid string) *podresources.PodResources {
	return &podresources.PodResources{
		Name: pod, Namespace: "inference",
		Containers: []*podresources.ContainerResources{{
			Name: "server", Devices: []*podresources.ContainerDevices{{
				ResourceName: "nvidia.com/gpu", DeviceIds: []string{uuid},
			}},
		}},
	}
}

func listOf(all ...*podresources.PodResources) *podresources.ListPodResourcesResponse {
	return &podresources.ListPodResourcesResponse{PodResources: all}
}

// changing answers with what it was told last.
type changing struct {
	podresources.UnimplementedPodResourcesListerServer

	now chan answers
}

func (c changing) List(
	ctx context.Context, r *podresources.ListPodResourcesRequest,
) (*podresources.ListPodResourcesResponse, error) {
	a := <-c.now
	c.now <- a
	return a.List(ctx, r)
}

func (c changing) GetAllocatableResources(
	ctx context.Context, r *podresources.AllocatableResourcesRequest,
) (*podresources.AllocatableResourcesResponse, error) {
	a := <-c.now
	return a.GetAllocatableResources(ctx, r)
}

// garbled answers with bytes that are no protobuf.
type garbled struct{}

func (garbled) Marshal(any) ([]byte, error)     { return []byte{0x0a, 0xff, 0xff, 0xff}, nil }
func (garbled) Unmarshal(_ []byte, _ any) error { return nil }
func (garbled) Name() string                    { return "proto" }

func ask(t *testing.T, lister *kubelet.Lister) pods.Held {
	t.Helper()
	held, err := lister.Holdings(t.Context(), gpu.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return held
}
