package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
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
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	conn, err := grpc.NewClient(
		"passthrough:kubelet",
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a unix socket, guarded by its folder's mode
		grpc.WithContextDialer(dial),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longest)),
		// A kubelet that was restarted is found again within a step.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay:  200 * time.Millisecond,
				Multiplier: 2,
				Jitter:     0.2,
				MaxDelay:   patience,
			},
			MinConnectTimeout: patience,
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("the kubelet's pod-resources socket %s: %w", socket, err)
	}
	return &Lister{conn: conn, client: podresources.NewPodResourcesListerClient(conn)}, nil
}

// Holdings asks who holds what now. The reading gives the UUIDs to a kubelet that names devices by their index.
//
// An error is a kubelet that is not there, does not answer within two seconds, or whose answer cannot be read.
func (l *Lister) Holdings(ctx context.Context, reading gpu.Reading) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := l.client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return Answer{}, fmt.Errorf("the kubelet's pod resources: %w", err)
	}
	all, err := l.client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil && passing(err) {
		return Answer{}, fmt.Errorf("what the kubelet can allocate: %w", err)
	}
	answer, replicas := read(list, all, reading, l.replicas)
	l.replicas = replicas
	return answer, nil
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
