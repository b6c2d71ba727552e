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
