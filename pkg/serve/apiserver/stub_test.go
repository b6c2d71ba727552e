package apiserver_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
)

// reviews is a cluster that only reviews: tokens name their user, and users named "allowed…" may do everything, but for
// "allowed-but-list".
type reviews struct {
	mu     sync.Mutex
	access []authorization.SubjectAccessReviewSpec
	// hangs is for how many nanoseconds a token's review hangs.
	hangs atomic.Int64
}

func (r *reviews) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(request.URL.Path, "/tokenreviews"):
		var review authentication.TokenReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case <-time.After(time.Duration(r.hangs.Load())):
		case <-request.Context().Done():
		}
		name, known := strings.CutPrefix(review.Spec.Token, "token-of-")
		review.Status = authentication.TokenReviewStatus{
			Authenticated: known,
			User:          authentication.UserInfo{Username: name, Groups: []string{"system:authenticated"}},
		}
		reply(w, review)
	case strings.HasSuffix(request.URL.Path, "/subjectaccessreviews"):
		var review authorization.SubjectAccessReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		r.access = append(r.access, review.Spec)
		r.mu.Unlock()
		of := review.Spec.ResourceAttributes
		review.Status.Allowed = strings.HasPrefix(review.Spec.User, "allowed") &&
			(review.Spec.User != "allowed-but-list" || of == nil || of.Verb != "list")
		reply(w, review)
	default:
		http.NotFound(w, request)
	}
}

func reply(w http.ResponseWriter, review any) {
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// take is the reviews of access since the last call.
func (r *reviews) take() []authorization.SubjectAccessReviewSpec {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.access
	r.access = nil
	return out
}

// deps are those of a server over the store, with fixed time.
func deps(snapshots *snapshot.Store, checks ...run.Check) apiserver.Deps {
	registry := prometheus.NewRegistry()
	registry.MustRegister(telemetry.New(snapshots, snapshottest.Now, nil))
	return apiserver.Deps{
		Snapshots: snapshots,
		Metrics:   registry,
		Logger:    slog.New(slog.DiscardHandler),
		Now:       snapshottest.Now,
		Ready:     checks,
	}
}

// runner is a server of either kind.
type runner interface {
	Run(ctx context.Context) error
}

// startServer serves until the test ends, and then wants a stop without an error.
func startServer(tb testing.TB, server runner) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		select {
		case err := <-stopped:
			if err != nil {
				tb.Errorf("stop: %v", err)
			}
		case <-time.After(20 * time.Second):
			tb.Error("the server does not stop")
		}
	})
}

// onFreePort are the options of a server on loopback whose certificates stay in memory.
func onFreePort(tb testing.TB, kubeconfig string) apiserver.ClusterConfig {
	tb.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	options := apiserver.DefaultClusterConfig()
	options.Kubeconfig = kubeconfig
	options.Library.SecureServing.Listener = listener
	return options
}

// startCluster serves the store in cluster mode against the reviewing stub, with further options.
func startCluster(
	tb testing.TB, snapshots *snapshot.Store, groups apiserver.Groups, further ...func(*apiserver.ClusterConfig),
) (string, *reviews) {
	tb.Helper()
	stub := &reviews{}
	cluster := httptest.NewServer(stub)
	tb.Cleanup(cluster.Close)
	options := onFreePort(tb, apiservertest.Kubeconfig(tb, &rest.Config{Host: cluster.URL}))
	options.Groups = groups
	options.Library.Authentication.SkipInClusterLookup = true
	for _, set := range further {
		set(&options)
	}
	server, err := apiserver.NewCluster(options, deps(snapshots))
	if err != nil {
		tb.Fatal(err)
	}
	startServer(tb, server)
	return "https://" + server.Addr().String(), stub
}

// insecure speaks HTTP/2 to a server whose certificate is its own.
func insecureClient(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
	}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// answer is what a request brought.
type answer struct {
	code   int
	header http.Header
	body   string
}

// get asks with headers given as "Name: value".
func get(tb testing.TB, client *http.Client, url string, headers ...string) answer {
	tb.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	return do(tb, client, request, headers...)
}

func do(tb testing.TB, client *http.Client, request *http.Request, headers ...string) answer {
	tb.Helper()
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func token(user string) string { return "Authorization: Bearer token-of-" + user }

func externalURL(base, namespace, metric, selector string) string {
	url := fmt.Sprintf("%s/apis/external.metrics.k8s.io/v1beta1/namespaces/%s/%s", base, namespace, metric)
	if selector != "" {
		url += "?labelSelector=" + selector
	}
	return url
}
