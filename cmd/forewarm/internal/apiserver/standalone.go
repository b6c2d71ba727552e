package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
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
		return nil, errors.Join(err, listener.Close())
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

// localOnly keeps other sites out of a server that trusts whoever reaches it. A page of another site can make a browser
// resolve that site's own name to 127.0.0.1 (DNS rebinding): the Host then gives it away, 421. And it can post here
// without being able to read the answer: 403. Any port passes, because tunnels change it.
func localOnly(next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "this server answers to 127.0.0.1 and localhost only", http.StatusMisdirectedRequest)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

func isLocal(host string) bool {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() && address.Zone() == ""
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
