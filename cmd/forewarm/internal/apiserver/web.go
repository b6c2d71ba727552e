package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

const (
	// drain is how long requests may take to finish once the server is asked to stop.
	drain = 10 * time.Second
	// headerTime is how long a connection may take for its handshake, and again for the headers of a request.
	headerTime = 10 * time.Second
	// idleTime is as Go's clients have it.
	idleTime = 90 * time.Second
	// writeTime is how long an answer may take; the library ends a handler after 60 s.
	writeTime = 90 * time.Second
	// maxHeader is for a user of a thousand groups, whom the kube-apiserver describes in headers.
	maxHeader = 128 << 10
	// upload is the least that HTTP/2 allows: no request has a body that is read.
	upload = 64 << 10
)

// web serves the generic server's handler by net/http itself. The library's own way has no limits of its own for what comes
// before a request is known (1 MiB of headers on each connection, 25 MiB of bodies), and writes errors past the log.
type web struct {
	generic  *genericapiserver.GenericAPIServer
	listener net.Listener
	logger   *slog.Logger
	// guard stands before all handlers.
	guard func(http.Handler) http.Handler
	// secure is nil where it is plain.
	secure *certificates
	// streams is how many requests a connection may have under way.
	streams int
}

// run serves until the context ends and then lets requests finish.
func (w *web) run(ctx context.Context, url string) error {
	prepared := w.generic.PrepareRun()
	// The generic server runs its hooks and says that its paths are complete. Having no listener of its own it never
	// returns, even when the context has ended; it goes with the process.
	go func() {
		if err := prepared.RunWithContext(ctx); err != nil {
			w.logger.ErrorContext(ctx, "generic API server", slog.Any("error", err))
		}
	}()
	var idle unused
	server := &http.Server{
		Handler:           w.guard(prepared.Handler),
		ConnState:         idle.follow,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		WriteTimeout:      writeTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(w.logger.Handler(), slog.LevelDebug),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:      w.streams,
			MaxReceiveBufferPerStream: upload, MaxReceiveBufferPerConnection: upload,
		},
	}
	server.RegisterOnShutdown(idle.close)
	listener := w.listener
	if w.secure != nil {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		config, err := w.secure.follow(running)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		server.TLSConfig = config
		listener = tls.NewListener(listener, config)
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- server.Shutdown(limit)
	}()
	w.logger.InfoContext(ctx, "serving", slog.String("address", url))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return <-stopped
}

// unused are the connections on which nothing has been asked yet. Browsers and Go's own client open some in advance, and
// http.Server.Shutdown waits five seconds for a first request on each.
type unused struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// follow is the server's ConnState.
func (u *unused) follow(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.conns, conn)
		return
	}
	if u.conns == nil {
		u.conns = make(map[net.Conn]struct{})
	}
	u.conns[conn] = struct{}{}
}

// close ends them.
func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for conn := range u.conns {
		_ = conn.Close() //nolint:errcheck // The client may have closed it already.
	}
}
