package pods

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// KubeletSocket is a kubelet's default socket.
const KubeletSocket = "/var/lib/kubelet/pod-resources/kubelet.sock"

const (
	// callTimeout is the timeout of a call; a kubelet answers from memory, in milliseconds.
	callTimeout = 2 * time.Second
	// maxAnswer is the size of the largest answer that is read, in bytes: 500 pods at 8 KiB each. A larger one is an
	// error, because the agent has 40 MB for everything.
	maxAnswer = 4 << 20
)

// Lister lists the holdings of one kubelet. It is not safe for concurrent use.
type Lister struct {
	conn   *grpc.ClientConn
	client podresources.PodResourcesListerClient
	// replicas of each shared device that is held, as the kubelet last reported them.
	replicas map[string]set
}

// DialKubelet makes a lister for a socket. It does not open the socket: a kubelet may start, stop and start again later.
func DialKubelet(socket string) (*Lister, error) {
	if socket == "" {
		return nil, errors.New("the kubelet's pod-resources socket has no path: write the usual one, " + KubeletSocket)
	}
	// The connection to a restarted kubelet is back within one step.
	again := backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: callTimeout}
	conn, err := grpc.NewClient(
		"unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a unix socket, guarded by its folder's mode
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: callTimeout}),
	)
	if err != nil {
		return nil, fmt.Errorf("the kubelet's pod-resources socket %s: %w", socket, err)
	}
	return &Lister{conn: conn, client: podresources.NewPodResourcesListerClient(conn)}, nil
}

// Holdings lists the holdings now. The reading maps indexes to UUIDs where a device plugin names devices by their
// index. It fails where the kubelet is not there, does not answer within two seconds, or its answer cannot be read.
func (l *Lister) Holdings(ctx context.Context, reading gpu.Reading) (Held, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := l.client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return Held{}, fmt.Errorf("list the kubelet's pod resources: %w", err)
	}
	all, err := l.client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil && isTransient(err) {
		return Held{}, fmt.Errorf("list the kubelet's allocatable resources: %w", err)
	}
	held, replicas := readAnswers(list, all, reading, l.replicas)
	l.replicas = replicas
	return held, nil
}

// isTransient reports whether a retry may succeed. Otherwise the kubelet is too old for the call or configured not to
// answer it, and the replicas are derived from those that are held.
func isTransient(err error) bool {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted:
		return true
	default:
		return false
	}
}

// Close ends the connection.
func (l *Lister) Close() error { return l.conn.Close() }
