package pods_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
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
	stop := serve(
		t,
		path,
		&answers{list: listOf(whole("old", gpuA)), all: &podresources.AllocatableResourcesResponse{}},
	)
	lister := dial(t, path)
	if held := ask(t, lister); held.Holdings[0].Container.Pod != "old" {
		t.Fatalf("held by %v", held)
	}
	stop()
	if _, err := lister.Holdings(t.Context(), gpu.Reading{}); err == nil {
		t.Fatal("a kubelet that is gone answered")
	}
	serve(t, path, &answers{list: listOf(whole("new", gpuA)), all: &podresources.AllocatableResourcesResponse{}})
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

func TestHoldingsWhileThePluginRestarts(t *testing.T) {
	t.Parallel()
	var node answers
	lister := lister(t, &node)
	list := listOf(whole("llama", gpuA+"::0"))
	four := &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{{
		ResourceName: "nvidia.com/gpu", DeviceIds: []string{gpuA + "::0", gpuA + "::1", gpuA + "::2", gpuA + "::3"},
	}}}
	two := &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{{
		ResourceName: "nvidia.com/gpu", DeviceIds: []string{gpuA + "::0", gpuA + "::1"},
	}}}
	none := &podresources.AllocatableResourcesResponse{}
	for _, step := range []struct {
		why  string
		node answers
		want float64
		seen bool
	}{
		{"before anything was told", answers{list: list, all: none}, 1, true},
		{"one of four", answers{list: list, all: four}, 0.25, false},
		{"its plugin is restarted, and nothing is allocatable", answers{list: list, all: none}, 0.25, false},
		{"the kubelet does not tell", answers{list: list, err: status.Error(codes.PermissionDenied, "")}, 0.25, false},
		{"it came back with two", answers{list: list, all: two}, 0.5, false},
		{"a restart again", answers{list: list, all: none}, 0.5, false},
	} {
		node.list, node.all, node.err = step.node.list, step.node.all, step.node.err
		held := ask(t, lister)
		if len(held.Holdings) != 1 || held.Holdings[0].Allocated != step.want || held.Estimated != step.seen {
			t.Errorf("%s: %+v; want a share of %v", step.why, held, step.want)
		}
	}
}

func TestHoldingsThatFail(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	llama := listOf(whole("llama", gpuA+"::0"))
	for _, test := range []struct {
		name   string
		server *grpc.Server // nil: a socket that accepts, in the kernel, and says nothing
		node   *answers
		code   codes.Code
	}{
		{
			"a kubelet that is busy, and may answer the next time", grpc.NewServer(),
			&answers{list: llama, err: status.Error(codes.ResourceExhausted, "rejected by rate limit")},
			codes.ResourceExhausted,
		},
		{
			"an answer of five megabytes", grpc.NewServer(), &answers{list: listOf(whole(strings.Repeat("x", 5<<20), gpuA))},
			codes.ResourceExhausted,
		},
		{
			"bytes that are no answer", grpc.NewServer(grpc.ForceServerCodec(garbled{})), &answers{list: llama},
			codes.Internal,
		},
		{"a server without v1", grpc.NewServer(), nil, codes.Unimplemented},
		{"a kubelet that hangs", nil, nil, codes.DeadlineExceeded},
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
			held, err := dial(t, path).Holdings(t.Context(), gpu.Reading{})
			if took := time.Since(began); status.Code(err) != test.code || took > 10*time.Second {
				t.Errorf("after %v: %+v, %v; want %v", took, held, err, test.code)
			}
			if _, err = dial(t, path).Holdings(over, gpu.Reading{}); status.Code(err) != codes.Canceled {
				t.Errorf("a caller that gave up gets %v", err)
			}
		})
	}
	path := socket(t)
	if _, err := dial(
		t,
		path,
	).Holdings(t.Context(), gpu.Reading{}); err == nil ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("%v does not say which socket is not there", err)
	}
}
