package pods_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

func TestDialWantsAPath(t *testing.T) {
	t.Parallel()
	if _, err := pods.DialKubelet(""); err == nil || !strings.Contains(err.Error(), pods.KubeletSocket) {
		t.Errorf("%v does not say which path is usual", err)
	}
}

func TestHoldingsOverARestart(t *testing.T) {
	t.Parallel()
	path := socket(t)
	if _, err := dial(t, path).Holdings(t.Context(), reading); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v does not say which socket is not there", err)
	}
	stop := serve(t, path, answersOf("old nvidia.com/gpu gpuA", "cpu"))
	lister := dial(t, path)
	if held, err := lister.Holdings(t.Context(), reading); shown(held) != "old gpuA 1" {
		t.Fatalf("%+v, %v", held, err)
	}
	stop()
	if _, err := lister.Holdings(t.Context(), reading); err == nil {
		t.Fatal("a kubelet that is gone answered")
	}
	serve(t, path, answersOf("new nvidia.com/gpu gpuA", "cpu"))
	for range 100 {
		if held, err := lister.Holdings(t.Context(), reading); err == nil {
			if shown(held) != "new gpuA 1" {
				t.Errorf("%+v", held)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the kubelet that was started again is not found again in 5 s")
}

func TestHoldingsWhileThePluginRestarts(t *testing.T) {
	t.Parallel()
	var node answers
	lister := lister(t, &node)
	for _, step := range []struct{ why, allocatable, want string }{
		{"before anything was told", "cpu", "llama gpuA 1; estimated"},
		{"one of four", "nvidia.com/gpu gpuA::0 gpuA::1 gpuA::2 gpuA::3", "llama gpuA 0.25"},
		{"its plugin is restarted, and nothing is allocatable", "cpu", "llama gpuA 0.25"},
		{"the kubelet does not tell", "", "llama gpuA 0.25"},
		{"it came back with two", "nvidia.com/gpu gpuA::0 gpuA::1", "llama gpuA 0.5"},
		{"a restart again", "cpu", "llama gpuA 0.5"},
	} {
		now := answersOf("llama nvidia.com/gpu gpuA::0", step.allocatable)
		node.list, node.all, node.err = now.list, now.all, now.err
		if held, err := lister.Holdings(t.Context(), reading); shown(held) != step.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", step.why, shown(held), err, step.want)
		}
	}
}

func TestHoldingsThatFail(t *testing.T) {
	t.Parallel()
	busy := answersOf("llama nvidia.com/gpu gpuA::0", "cpu")
	busy.err = status.Error(codes.ResourceExhausted, "rejected by rate limit")
	huge := answersOf(strings.Repeat("x", 5<<20)+" nvidia.com/gpu gpuA", "cpu")
	for _, test := range []struct {
		name   string
		server *grpc.Server // nil: a socket that accepts, in the kernel, and says nothing
		node   *answers
		code   codes.Code
	}{
		{"a kubelet that is busy, and may answer the next time", grpc.NewServer(), busy, codes.ResourceExhausted},
		{"an answer of five megabytes", grpc.NewServer(), huge, codes.ResourceExhausted},
		{"bytes that are no answer", grpc.NewServer(grpc.ForceServerCodec(garbled{})), busy, codes.Internal},
		{"a server without v1", grpc.NewServer(), nil, codes.Unimplemented},
		{"a kubelet that hangs", nil, nil, codes.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := socket(t)
			if test.node != nil {
				podresources.RegisterPodResourcesListerServer(test.server, test.node)
			}
			if test.server != nil {
				start(t, path, test.server)
			} else {
				listen(t, path)
			}
			began := time.Now()
			held, err := dial(t, path).Holdings(t.Context(), reading)
			code := status.Code(err)
			if code == codes.DeadlineExceeded { // The call ends as the attempt to connect does.
				code = codes.Unavailable
			}
			if took := time.Since(began); code != test.code || took > 10*time.Second {
				t.Errorf("after %v: %+v, %v; want %v", took, held, err, test.code)
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err = dial(t, path).Holdings(over, reading); status.Code(err) != codes.Canceled {
				t.Errorf("a caller that gave up gets %v", err)
			}
		})
	}
}

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
