package pods_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// answers is a kubelet's pod-resources server. A test may change its answers between two calls.
type answers struct {
	podresources.UnimplementedPodResourcesListerServer

	list *podresources.ListPodResourcesResponse
	all  *podresources.AllocatableResourcesResponse
	err  error // of GetAllocatableResources
}

func (a *answers) List(
	context.Context, *podresources.ListPodResourcesRequest,
) (*podresources.ListPodResourcesResponse, error) {
	return a.list, nil
}

func (a *answers) GetAllocatableResources(
	context.Context, *podresources.AllocatableResourcesRequest,
) (*podresources.AllocatableResourcesResponse, error) {
	return a.all, a.err
}

// socket is a path for a unix socket, which may have some hundred letters at most.
func socket(tb testing.TB) string {
	tb.Helper()
	folder, err := os.MkdirTemp("", "kubelet") //nolint:usetesting // t.TempDir is too long a path for a socket
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(folder) }) //nolint:errcheck // A temporary folder.
	return filepath.Join(folder, "s")
}

// listen on a socket until the test ends, unless a server closes it.
func listen(tb testing.TB, path string) net.Listener {
	tb.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { listener.Close() }) //nolint:errcheck // A server has closed it.
	return listener
}

// serve a kubelet on a socket until the test or the returned function stops it.
func serve(tb testing.TB, path string, node *answers) (stop func()) {
	tb.Helper()
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, node)
	return start(tb, path, server)
}

func start(tb testing.TB, path string, server *grpc.Server) (stop func()) {
	tb.Helper()
	listener, done := listen(tb, path), make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stop = sync.OnceFunc(func() {
		server.Stop()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(stop)
	return stop
}

func dial(tb testing.TB, path string) *pods.Lister {
	tb.Helper()
	lister, err := pods.DialKubelet(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := lister.Close(); err != nil {
			tb.Error(err)
		}
	})
	return lister
}

// lister is one of a kubelet that runs until the test ends.
func lister(tb testing.TB, node *answers) *pods.Lister {
	tb.Helper()
	path := socket(tb)
	serve(tb, path, node)
	return dial(tb, path)
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

// garbled answers with bytes that are no protobuf.
type garbled struct{}

func (garbled) Marshal(any) ([]byte, error)     { return []byte{0x0a, 0xff, 0xff, 0xff}, nil }
func (garbled) Unmarshal(_ []byte, _ any) error { return nil }
func (garbled) Name() string                    { return "proto" }
