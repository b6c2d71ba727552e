package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
)

// drain is how long requests may take to finish once the server is asked to stop.
const drain = 10 * time.Second

// Standalone is the server without a cluster: plain HTTP on 127.0.0.1, open to whoever may use this machine.
type Standalone struct {
	server   *genericapiserver.GenericAPIServer
	listener net.Listener
	logger   *slog.Logger
}

// NewStandalone opens the port.
func NewStandalone(options StandaloneOptions, deps Deps) (*Standalone, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(options.Port))
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s, choose another --port: %w", address, err)
	}
	server, err := build(standaloneConfig(listener.Addr()), nil, AllGroups(), deps)
	if err != nil {
		closeQuietly(listener)
		return nil, err
	}
	return &Standalone{server: server, listener: listener, logger: deps.Logger}, nil
}

// standaloneConfig is one local user who may do everything that there is to do: reading.
func standaloneConfig(address net.Addr) *genericapiserver.Config {
	config := genericapiserver.NewConfig(adapter.Codecs)
	config.ExternalAddress = address.String()
	config.LoopbackClientConfig = &rest.Config{}
	config.Authentication.Authenticator = authenticator.RequestFunc(
		func(*http.Request) (*authenticator.Response, bool, error) {
			return &authenticator.Response{
				User: &user.DefaultInfo{Name: "local", Groups: []string{user.AllAuthenticated}},
			}, true, nil
		})
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	return config
}

// Addr is where it listens.
func (s *Standalone) Addr() net.Addr { return s.listener.Addr() }

// URL is where a browser or kubectl --server finds it.
func (s *Standalone) URL() string { return "http://" + s.Addr().String() }

// Run serves until the context ends and then lets requests finish.
func (s *Standalone) Run(ctx context.Context) error {
	prepared := s.server.PrepareRun()
	// The generic server runs its hooks and says that its paths are complete. Having no listener of its own it never
	// returns, even when the context has ended; it goes with the process.
	go func() {
		if err := prepared.RunWithContext(ctx); err != nil {
			s.logger.ErrorContext(ctx, "generic API server", slog.Any("error", err))
		}
	}()
	var idle unused
	server := &http.Server{
		Handler:           localOnly(prepared.Handler),
		ConnState:         idle.follow,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(idle.close)
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- server.Shutdown(limit)
	}()
	s.logger.InfoContext(ctx, "serving", slog.String("address", s.URL()))
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", s.Addr(), err)
	}
	return <-stopped
}
