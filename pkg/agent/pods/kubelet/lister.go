package kubelet

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
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Socket is where a kubelet answers, unless its root folder was moved.
const Socket = "/var/lib/kubelet/pod-resources/kubelet.sock"

const (
	// patience with a kubelet that accepts and does not answer; it answers from memory, in milliseconds.
	patience = 2 * time.Second
	// longest is the size of an answer that is still read, in bytes: 500 pods at 8 KiB each. A longer one is an error, as
	// the agent has 40 MB for everything.
	longest = 4 << 20
)

// Lister asks one kubelet. It is not safe for concurrent use.
type Lister struct {
	conn   *grpc.ClientConn
	client podresources.PodResourcesListerClient
	// replicas of each shared device that is held, as the kubelet told them last.
	replicas map[string]set
}

// Dial makes a lister for a socket. It does not touch the socket: a kubelet may start, stop and start again later.
func Dial(socket string) (*Lister, error) {
	if socket == "" {
		return nil, errors.New("the kubelet's pod-resources socket has no path: the usual one is " + Socket)
	}
	// A kubelet that was restarted is found again within a step.
	again := backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: patience}
	conn, err := grpc.NewClient(
		"unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a unix socket, guarded by its folder's mode
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longest)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: patience}),
	)
	if err != nil {
		return nil, fmt.Errorf("the kubelet's pod-resources socket %s: %w", socket, err)
	}
	return &Lister{conn: conn, client: podresources.NewPodResourcesListerClient(conn)}, nil
}

// Holdings asks who holds what now. The reading gives the UUIDs to a kubelet that names devices by their index.
//
// An error is a kubelet that is not there, does not answer within two seconds, or whose answer cannot be read.
func (l *Lister) Holdings(ctx context.Context, reading gpu.Reading) (pods.Held, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := l.client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return pods.Held{}, fmt.Errorf("the kubelet's pod resources: %w", err)
	}
	all, err := l.client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil && passing(err) {
		return pods.Held{}, fmt.Errorf("what the kubelet can allocate: %w", err)
	}
	held, replicas := read(list, all, reading, l.replicas)
	l.replicas = replicas
	return held, nil
}

// passing says whether an error may be gone with the next call. One that is not is a kubelet that is too old for the call
// or was told not to answer it: what is held tells the rest.
func passing(err error) bool {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted:
		return true
	default:
		return false
	}
}

// Close ends the connection.
func (l *Lister) Close() error { return l.conn.Close() }
