package clustertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// balancer replaces a Service's address: it forwards each connection to the next backend that answers.
type balancer struct {
	listener net.Listener
	port     int

	mu       sync.Mutex
	backends []string
	next     int
}

func newBalancer(ctx context.Context) (*balancer, error) {
	listener, port, err := processtest.Listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("listen for a Service: %w", err)
	}
	b := &balancer{listener: listener, port: port}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // Closed.
			}
			go b.serve(ctx, connection)
		}
	}()
	return b, nil
}

func (b *balancer) add(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, address)
}

func (b *balancer) remove(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = slices.DeleteFunc(b.backends, func(a string) bool { return a == address })
}

// order returns the backends, the next one first.
func (b *balancer) order() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.backends) == 0 {
		return nil
	}
	b.next = (b.next + 1) % len(b.backends)
	return slices.Concat(b.backends[b.next:], b.backends[:b.next])
}

// dial connects to a backend that answers.
func (b *balancer) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: time.Second}
	err := errors.New("no backends")
	for _, address := range b.order() {
		var backend net.Conn
		if backend, err = dialer.DialContext(ctx, "tcp", address); err == nil {
			return backend, nil
		}
	}
	return nil, err
}

// serve copies bytes until one side ends; the client sees the errors.
func (b *balancer) serve(ctx context.Context, client net.Conn) {
	defer client.Close() //nolint:errcheck // It may be closed already.
	backend, err := b.dial(ctx)
	if err != nil {
		return
	}
	defer backend.Close() //nolint:errcheck // It may be closed already.
	over := make(chan struct{}, 2)
	pipe := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) //nolint:errcheck // The first end closes both.
		over <- struct{}{}
	}
	go pipe(backend, client)
	go pipe(client, backend)
	<-over
}
