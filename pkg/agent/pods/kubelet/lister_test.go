package kubelet_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
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

func TestDialWantsAPath(t *testing.T) {
	t.Parallel()
	if _, err := kubelet.Dial(""); err == nil || !strings.Contains(err.Error(), kubelet.Socket) {
		t.Errorf("%v does not say which path is usual", err)
	}
}

func TestHoldingsWithoutKubelet(t *testing.T) {
	t.Parallel()
	path := socket(t)
	if _, err := dial(
		t,
		path,
	).Holdings(t.Context(), gpu.Reading{}); err == nil ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("%v does not say which socket is not there", err)
	}
}

func TestHoldingsOverARestart(t *testing.T) {
	t.Parallel()
	path := socket(t)
	stop := serve(t, path, answers{list: listOf(whole("old", gpuA)), all: &podresources.AllocatableResourcesResponse{}})
	lister := dial(t, path)
	if held := ask(t, lister); held.Holdings[0].Container.Pod != "old" {
		t.Fatalf("held by %v", held)
	}
	stop()
	if _, err := lister.Holdings(t.Context(), gpu.Reading{}); err == nil {
		t.Fatal("a kubelet that is gone answered")
	}
	serve(t, path, answers{list: listOf(whole("new", gpuA)), all: &podresources.AllocatableResourcesResponse{}})
	for range 100 {
		held, err := lister.Holdings(t.Context(), gpu.Reading{})
		if err == nil {
			if held.Holdings[0].Container.Pod != "new" {
				t.Errorf("held by %v", held)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the kubelet that was started again is not found again in 5 s")
}

func TestHoldingsOfAKubeletThatHangs(t *testing.T) {
	t.Parallel()
	path := socket(t)
	listener := listen(t, path) // accepts, in the kernel, and says nothing
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	start := time.Now()
	_, err := dial(t, path).Holdings(t.Context(), gpu.Reading{})
	if took := time.Since(start); err == nil || took > 10*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}

func TestHoldingsWithinTheCallersTime(t *testing.T) {
	t.Parallel()
	path := socket(t)
	listener := listen(t, path)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(t, path).Holdings(ctx, gpu.Reading{}); status.Code(err) != codes.Canceled {
		t.Errorf("a caller that gave up gets %v", err)
	}
}

func TestHoldingsOfAHugeAnswer(t *testing.T) {
	t.Parallel()
	path := socket(t)
	serve(t, path, answers{list: listOf(whole(strings.Repeat("x", 5<<20), gpuA))})
	if _, err := dial(t, path).Holdings(t.Context(), gpu.Reading{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("five megabytes give %v", err)
	}
}

// garbled answers with bytes that are no protobuf.
type garbled struct{}

func (garbled) Marshal(any) ([]byte, error)     { return []byte{0x0a, 0xff, 0xff, 0xff}, nil }
func (garbled) Unmarshal(_ []byte, _ any) error { return nil }
func (garbled) Name() string                    { return "proto" }

func TestHoldingsOfAMalformedAnswer(t *testing.T) {
	t.Parallel()
	path := socket(t)
	server := grpc.NewServer(grpc.ForceServerCodec(garbled{}))
	podresources.RegisterPodResourcesListerServer(server, answers{list: listOf()})
	listener := listen(t, path)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if _, err := dial(t, path).Holdings(t.Context(), gpu.Reading{}); status.Code(err) != codes.Internal {
		t.Errorf("bytes that are no answer give %v", err)
	}
}

func TestHoldingsOfSomethingElse(t *testing.T) {
	t.Parallel()
	path := socket(t)
	server, listener := grpc.NewServer(), listen(t, path)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if _, err := dial(t, path).Holdings(t.Context(), gpu.Reading{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a server without v1 gives %v", err)
	}
}

func ask(t *testing.T, lister *kubelet.Lister) kubelet.Answer {
	t.Helper()
	held, err := lister.Holdings(t.Context(), gpu.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return held
}
