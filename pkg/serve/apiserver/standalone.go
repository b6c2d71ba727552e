package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/munnerz/goautoneg"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// Standalone is the server without a cluster: plain HTTP on 127.0.0.1, open to every user of this machine.
type Standalone struct{ web *web }

// NewStandalone opens the port.
func NewStandalone(options StandaloneConfig, deps Deps) (*Standalone, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(options.Port))
	//nolint:forbidigo // It opens the port and waits for nothing.
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: choose another --port: %w", address, err)
	}
	server, err := newGenericServer(standaloneConfig(listener.Addr()), nil, AllGroups(), deps)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	mux := server.Handler.NonGoRestfulMux
	mux.Unregister("/") // The library's list of paths is still at /index.html.
	mux.Handle("/", inspect.FrontPage(deps.Snapshots, "", deps.Now))
	if deps.Forecasts != nil {
		server.DiscoveryGroupManager.AddGroup(forecastsGroup())
	}
	guard := func(next http.Handler) http.Handler {
		return localOnly(dated(withForecasts(deps.Forecasts, readOnly(listAtRoot(next))), deps.Now))
	}
	return &Standalone{&web{generic: server, listener: listener, logger: deps.Logger, guard: guard}}, nil
}

// standaloneConfig returns a configuration with one local user, who is allowed to read everything.
func standaloneConfig(address net.Addr) *genericapiserver.Config {
	config := genericapiserver.NewConfig(adapter.Codecs)
	config.ExternalAddress = address.String()
	config.LoopbackClientConfig = &rest.Config{}
	config.Authentication.Authenticator = authenticator.RequestFunc(
		func(*http.Request) (*authenticator.Response, bool, error) {
			return &authenticator.Response{
				User: &user.DefaultInfo{Name: "local", Groups: []string{user.AllAuthenticated}},
			}, true, nil
		},
	)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	return config
}

// listAtRoot answers / with the list of all outlooks if the client prefers one of its formats to HTML.
func listAtRoot(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Vary", "Accept")
			prefers := goautoneg.Negotiate(r.Header.Get("Accept"),
				[]string{"text/html", "application/json", "application/yaml"})
			if prefers != "" && prefers != "text/html" {
				r = r.Clone(r.Context())
				r.URL.Path = "/apis/" + v1alpha1.GroupVersion().String() + "/" + v1alpha1.Resource
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Addr is the address that it listens on.
func (s *Standalone) Addr() net.Addr { return s.web.listener.Addr() }

// URL is the address for a browser or kubectl --server.
func (s *Standalone) URL() string { return "http://" + s.Addr().String() }

// Run serves until the context ends and then lets requests finish.
func (s *Standalone) Run(ctx context.Context) error { return s.web.run(ctx, s.URL()) }

// dated sets the Date header of answers from a clock. Clients measure ages by this header, and the clock may differ from real time.
func dated(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}

// localOnly protects a server that trusts every client from pages of other sites. Such a page can make a browser resolve the page's own
// host name to 127.0.0.1 (DNS rebinding). The Host header reveals this, and the answer is 421. Such a page can also send a POST without
// reading the answer, which is answered with 403. Any port is accepted, because tunnels change the port.
func localOnly(next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "this server only accepts requests to 127.0.0.1 and localhost", http.StatusMisdirectedRequest)
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
