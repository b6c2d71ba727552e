package modelserver

import (
	"context"
	"net/http"
	"time"
)

// flushed is how long a server that has answered all requests waits for its connections to become idle.
const flushed = 5 * time.Second

// Terminate is SIGTERM, and returns at once. As vLLM does with a --shutdown-timeout, the server fails its readiness, refuses new requests,
// and exits when it has answered the others, or at the timeout. Without a timeout it aborts them. It is killed if the context ends.
func (s *Server) Terminate(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return
	}
	s.stopping = true
	if s.open == 0 {
		close(s.drained)
	}
	go func() {
		defer s.Kill()
		select {
		case <-s.drained:
		case <-time.After(s.shutdown):
			return
		case <-ctx.Done():
			return
		}
		idle, cancel := context.WithTimeout(ctx, flushed)
		defer cancel()
		_ = s.http.Shutdown(idle) //nolint:errcheck // What is left is closed.
	}()
}

// Kill is SIGKILL: the server closes its connections and exits.
func (s *Server) Kill() {
	_ = s.http.Close() //nolint:errcheck // It may be closed already.
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over() {
		close(s.exited)
	}
}

// over reports whether it has exited.
func (s *Server) over() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// Exited is closed when the server has exited.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// health is the readiness: it fails from SIGTERM on.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// admit takes a new request, unless the server is stopping.
func (s *Server) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.open++
	return true
}

// release ends a request.
func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.open == 0 && s.stopping {
		close(s.drained)
	}
}

// Open is the requests that have not had their full answer yet.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Termination is how a kubelet stops a pod with one container.
type Termination struct {
	// PreStop is the container's preStop sleep, Grace the pod's terminationGracePeriodSeconds, which begins before it.
	PreStop, Grace time.Duration
}

// minGrace is what a kubelet leaves for SIGTERM after a preStop hook that took the whole grace period.
const minGrace = 2 * time.Second

// Stop stops a container in the kubelet's order: it runs the preStop hook, sends SIGTERM, and at the end of the grace period SIGKILL. It
// returns when the container has exited. If the context ends first, it kills the container.
func (t Termination) Stop(ctx context.Context, terminate, kill func(), exited <-chan struct{}) {
	begin := time.Now()
	select {
	case <-time.After(min(t.PreStop, t.Grace)):
		terminate()
	case <-exited:
		return
	case <-ctx.Done():
	}
	select {
	case <-exited:
		return
	case <-time.After(max(t.Grace-time.Since(begin), minGrace)):
	case <-ctx.Done():
	}
	kill()
	<-exited
}
