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
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

const (
	// drainTimeout is how long requests may take to finish after the server was told to stop.
	drainTimeout = 10 * time.Second
	// headerTimeout is how long a connection may take for its handshake, and again for the headers of a request.
	headerTimeout = 10 * time.Second
	// idleTimeout is the same as in Go's clients.
	idleTimeout = 90 * time.Second
	// writeTimeout is how long an answer may take; the library stops a handler after 60 s.
	writeTimeout = 90 * time.Second
	// maxHeader is large enough for a user in a thousand groups, which the kube-apiserver sends as headers.
	maxHeader = 128 << 10
	// maxUpload is the minimum that HTTP/2 allows, because no request body is read.
	maxUpload = 64 << 10
)

// web serves the generic server's handler with net/http. The library's own server allows too much before a request is known (1 MiB of
// headers on each connection, 25 MiB of bodies), and its errors do not go to the log.
type web struct {
	generic  *genericapiserver.GenericAPIServer
	listener net.Listener
	logger   *slog.Logger
	// guard wraps all handlers.
	guard func(http.Handler) http.Handler
	// secure is nil for plain HTTP.
	secure *apiCertificates
	// streams is how many concurrent requests a connection may have.
	streams int
}

// run serves until the context ends and then lets requests finish.
func (w *web) run(ctx context.Context, url string) error {
	prepared := w.generic.PrepareRun()
	// The generic server runs its hooks and marks its paths as complete. Without a listener of its own it never
	// returns, even after the context has ended; it ends with the process.
	go func() {
		if err := prepared.RunWithContext(ctx); err != nil {
			w.logger.ErrorContext(ctx, "generic API server", slog.Any("error", err))
		}
	}()
	var idle unusedConns
	server := &http.Server{
		Handler:           w.guard(prepared.Handler),
		ConnState:         idle.follow,
		ConnContext:       withProxyProof,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(w.logger.Handler(), slog.LevelDebug),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:      w.streams,
			MaxReceiveBufferPerStream: maxUpload, MaxReceiveBufferPerConnection: maxUpload,
		},
	}
	server.RegisterOnShutdown(idle.close)
	listener := w.listener
	if w.secure != nil {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		config, err := w.secure.tlsConfig(running)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		server.TLSConfig = config
		listener = tls.NewListener(listener, config)
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		stopped <- server.Shutdown(limit)
	}()
	w.logger.InfoContext(ctx, "serving", slog.String("address", url))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return <-stopped
}

// unusedConns has the connections without a request so far. Browsers and Go's client open some in advance, and http.Server.Shutdown waits
// five seconds for the first request on each.
type unusedConns struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// follow is the server's ConnState function.
func (u *unusedConns) follow(conn net.Conn, state http.ConnState) {
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

// close closes the unused connections.
func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for conn := range u.conns {
		_ = conn.Close() //nolint:errcheck // The client may have closed it already.
	}
}

// apiCertificates are the TLS settings of the library's options. They are reloaded when their files or the cluster's
// authorities change; new connections use the newest.
type apiCertificates genericapiserver.SecureServingInfo

// tlsConfig returns a TLS configuration that reloads the certificates until the context ends.
func (c *apiCertificates) tlsConfig(ctx context.Context) (*tls.Config, error) {
	base := &tls.Config{
		MinVersion: max(tls.VersionTLS12, c.MinTLSVersion), CipherSuites: c.CipherSuites,
		CurvePreferences: c.CurvePreferences, NextProtos: []string{"h2", "http/1.1"},
	}
	if c.DisableHTTP2 {
		base.NextProtos = []string{"http/1.1"}
	}
	if c.ClientCA != nil {
		base.ClientAuth = tls.RequestClientCert // It is optional: there are other credentials.
	}
	current := dynamiccertificates.NewDynamicServingCertificateController(base, c.ClientCA, c.Cert, c.SNICerts, nil)
	sources := []any{c.ClientCA, c.Cert}
	for _, named := range c.SNICerts {
		sources = append(sources, named)
	}
	for _, source := range sources {
		if changing, ok := source.(dynamiccertificates.Notifier); ok {
			changing.AddListener(current)
		}
		if reader, ok := source.(dynamiccertificates.ControllerRunner); ok {
			// A file that cannot be read now is read later. Until then, no client can authenticate with a certificate from it.
			_ = reader.RunOnce(ctx) //nolint:errcheck // It logs its error and tries again.
			go reader.Run(ctx, 1)
		}
	}
	if err := current.RunOnce(); err != nil {
		return nil, fmt.Errorf("load the serving certificates: %w", err)
	}
	go current.Run(1, ctx.Done())
	base.GetConfigForClient = current.GetConfigForClient
	return base, nil
}
