// Package kedaserver serves KEDA's external scaler over gRPC, with mutual TLS whose files are reloaded when they change, limits
// on what a client may cost, gRPC's own health service, and a stop that ends the streams.
package kedaserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// MetricsPrefix is the prefix of the request metrics, whose names are the library's.
const MetricsPrefix = "forewarm_keda_"

// Server serves KEDA on a port.
type Server struct {
	snapshots    *snapshot.Store
	scaler       *keda.Scaler
	listener     net.Listener
	certificates *certificates // Nil without TLS.
	registry     *prometheus.Registry
	requests     *grpcprom.ServerMetrics
	log          *slog.Logger
}

// Open reads the certificates and opens the port; now is the clock for the age of data.
func Open(
	ctx context.Context, c Config, snapshots *snapshot.Store, now func() time.Time, log *slog.Logger,
) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		snapshots: snapshots, scaler: keda.New(snapshots, c.Fleets, now), log: log,
		registry: prometheus.NewRegistry(), requests: grpcprom.NewServerMetrics(),
	}
	if err := prometheus.WrapRegistererWithPrefix(MetricsPrefix, s.registry).Register(s.requests); err != nil {
		return nil, fmt.Errorf("metrics of KEDA's scaler: %w", err)
	}
	var err error
	if c.encrypted() {
		if s.certificates, err = openCertificates(c); err != nil {
			return nil, err
		}
	}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Address); err != nil {
		return nil, fmt.Errorf("cannot listen on %s: choose another --keda-address: %w", c.Address, err)
	}
	return s, nil
}

// Addr is the address that it listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Close closes the port where Run is never called.
func (s *Server) Close() error { return s.listener.Close() }

// Metrics count the requests by method and code.
func (s *Server) Metrics() prometheus.Gatherer { return s.registry } //nolint:ireturn // Callers combine it.

// Run serves until the context ends, then ends the streams and lets requests finish.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := health.NewServer()
	server := grpc.NewServer(s.options(ctx)...)
	pb.RegisterExternalScalerServer(server, s.scaler)
	healthpb.RegisterHealthServer(server, ready)

	var running sync.WaitGroup
	running.Go(func() { s.reportHealth(ctx, ready) })
	if s.certificates != nil {
		running.Go(func() { s.certificates.follow(ctx) })
	}
	running.Go(func() {
		<-ctx.Done()
		stopServer(server)
	})
	s.log.InfoContext(ctx, "serving KEDA", slog.String("address", s.Addr().String()),
		slog.Bool("tls", s.certificates != nil))
	err := server.Serve(s.listener)
	cancel() // If the server failed, the others must stop, too.
	running.Wait()
	if err != nil {
		return fmt.Errorf("serve KEDA on %s: %w", s.Addr(), err)
	}
	return nil
}

// reportHealth sets gRPC's health status to serving from the first snapshot until the context ends.
func (s *Server) reportHealth(ctx context.Context, ready *health.Server) {
	defer ready.Shutdown()
	say := func(status healthpb.HealthCheckResponse_ServingStatus) {
		ready.SetServingStatus("", status)
		ready.SetServingStatus(pb.ExternalScaler_ServiceDesc.ServiceName, status)
	}
	say(healthpb.HealthCheckResponse_NOT_SERVING)
	newest, first := s.snapshots.Watch()
	if newest == nil {
		select {
		case <-first:
		case <-ctx.Done():
			return
		}
	}
	say(healthpb.HealthCheckResponse_SERVING)
	<-ctx.Done()
}

// stopServer lets requests finish, and ends those that take too long. endStreamsWith ends the streams.
func stopServer(server *grpc.Server) {
	late := time.AfterFunc(drainTimeout, server.Stop) //nolint:forbidigo // A limit of the stop.
	defer late.Stop()
	server.GracefulStop()
}

// certificates reloads the certificates when their files or Forewarm's own authority change. New connections use the newest certificate,
// and open connections continue. If a file cannot be read, or a key does not match the certificate (the files are written one after the
// other), nothing changes.
type certificates struct {
	current *dynamiccertificates.DynamicServingCertificateController
	// watchers watch the files; there are none for Forewarm's own authority.
	watchers []dynamiccertificates.ControllerRunner
}

// openCertificates reads the certificates for the first time.
func openCertificates(c Config) (*certificates, error) {
	out, serving, clients := &certificates{}, c.Serving, c.Clients
	if c.hasFiles() {
		cert, err := dynamiccertificates.NewDynamicServingContentFromFiles("keda", c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the certificate of KEDA's scaler: %w", err)
		}
		authority, err := dynamiccertificates.NewDynamicCAContentFromFile("keda-client-ca", c.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate authority of KEDA's scaler: %w", err)
		}
		serving, clients = cert, authority
		out.watchers = []dynamiccertificates.ControllerRunner{cert, authority}
	}
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert,
		// While the authority is unknown, no client is trusted. Without a pool, the authorities of the machine would be trusted.
		ClientCAs:  x509.NewCertPool(),
		NextProtos: []string{"h2"},
		// A resumed session would skip the verification of the client's certificate with the current authorities.
		SessionTicketsDisabled: true,
	}
	out.current = dynamiccertificates.NewDynamicServingCertificateController(base, clients, serving, nil, nil)
	for _, source := range []any{serving, clients} {
		if changing, ok := source.(dynamiccertificates.Notifier); ok {
			changing.AddListener(out.current)
		}
	}
	if err := out.current.RunOnce(); err != nil {
		return nil, fmt.Errorf("load the certificates of KEDA's scaler: %w", err)
	}
	return out, nil
}

// follow watches for changes until the context ends.
func (c *certificates) follow(ctx context.Context) {
	var running sync.WaitGroup
	for _, watcher := range c.watchers {
		running.Go(func() { watcher.Run(ctx, 1) })
	}
	running.Go(func() { c.current.Run(1, ctx.Done()) })
	running.Wait()
}

// credentials use the current certificates at each handshake.
func (c *certificates) credentials() credentials.TransportCredentials { //nolint:ireturn // The library's type.
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, GetConfigForClient: c.current.GetConfigForClient,
	})
}
