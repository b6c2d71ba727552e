package apiserver_test

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// grant lets the user "viewer" see the outlooks and read the metrics of one namespace, and nothing else.
//
//go:embed testdata/grant.yaml
var grant string

// startReal serves in cluster mode alongside a real kube-apiserver, with a certificate that it can verify by the bundle.
func startReal(t *testing.T, cluster *apiservertest.Cluster) (base string, bundle []byte) {
	t.Helper()
	options := onFreePort(t, apiservertest.Kubeconfig(t, cluster.Config))
	bundle, key, err := cert.GenerateSelfSignedCertKey("forewarm.forewarm-system.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if options.Certificate, err = dynamiccertificates.NewStaticCertKeyContent("own", bundle, key); err != nil {
		t.Fatal(err)
	}
	apis, err := apiserver.NewCluster(options, deps(snapshottest.Store(snapshottest.EveryState()...)))
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, apis)
	base = "https://" + apis.Addr().String()
	waitReady(t, insecureClient(t), base)
	return base, bundle
}

// as is a client with the user's certificate, which does not check the server's.
func as(t *testing.T, config *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{
		Insecure: true, CertData: config.CertData, KeyData: config.KeyData,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// waitTrusted waits until the server has read the cluster's client authority, which it does in the background.
func waitTrusted(t *testing.T, admin *http.Client, base string) {
	t.Helper()
	began := time.Now()
	for range 100 {
		admin.CloseIdleConnections()
		if get(t, admin, base+"/metrics").code == http.StatusOK {
			t.Logf("trusted after %s", time.Since(began))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the administrator's certificate is not trusted")
}

func TestRealClusterDecides(t *testing.T) {
	cluster := apiservertest.Start(t)
	cluster.MustKubectl(t, grant, "apply", "-f", "-")
	base, _ := startReal(t, cluster)
	waitTrusted(t, as(t, cluster.Config), base)
	stranger := as(t, cluster.User(t, "stranger"))
	clients := map[string]*http.Client{
		"anonymous": insecureClient(t), "stranger": stranger, "viewer": as(t, cluster.User(t, "viewer")),
		"administrator": as(t, cluster.Config),
	}
	for _, test := range casetest.Read[struct {
		Name, As, Path string
		Code           int
	}](t, "cluster.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			if got := get(t, clients[test.As], base+test.Path); got.code != test.Code {
				t.Errorf("%d, want %d: %.300s", got.code, test.Code, got.body)
			}
		})
	}
	t.Run("headers of the front proxy with a user's certificate", func(t *testing.T) {
		got := get(t, stranger, base+outlooksPath, "X-Remote-User: viewer", "X-Remote-Group: system:masters")
		if got.code != http.StatusForbidden {
			t.Errorf("%d, want 403", got.code)
		}
	})
}

// port is that of a URL.
func port(t *testing.T, base string) int {
	t.Helper()
	port, err := strconv.Atoi(base[strings.LastIndex(base, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// constant is an authority that does not change.
type constant []byte

func (c constant) CurrentCABundleContent() []byte { return c }

func (constant) Subscribe(context.Context, changes.Signal) {}

// hold takes the API groups until the test ends, as the leader does.
func hold(t *testing.T, cluster *apiservertest.Cluster, bundle []byte) {
	t.Helper()
	watch, err := aggregation.NewGroups(cluster.Config, "forewarm-system/forewarm", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	groups := apiserver.AllGroups()
	apiservertest.Background(t, watch.Run)
	apiservertest.Background(t, func(ctx context.Context) error {
		watch.Hold(ctx, run.WallClock{}, aggregation.HoldConfig{
			Modes: groups.Modes(), Owner: "forewarm:server", Port: 443, Authority: constant(bundle),
		})
		return nil
	})
}

// The way of an HPA and of kubectl: through the kube-apiserver, which vouches for the user.
func TestRealAggregator(t *testing.T) {
	cluster := apiservertest.Start(t)
	cluster.MustKubectl(t, grant, "apply", "-f", "-")
	base, bundle := startReal(t, cluster)
	cluster.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	hold(t, cluster, bundle)
	cluster.Route(t, "forewarm-system", "forewarm", port(t, base), 3)
	for _, test := range casetest.Read[struct{ Args, Words []string }](t, "aggregator.yaml") {
		t.Run(strings.Join(test.Args, " "), func(t *testing.T) {
			out, err := cluster.Kubectl(t, "", test.Args...)
			for tries := 0; err != nil && test.Words != nil && tries < 40; tries++ {
				time.Sleep(500 * time.Millisecond) // The kube-apiserver fetches OpenAPI documents in its own time.
				out, err = cluster.Kubectl(t, "", test.Args...)
			}
			if (err != nil) != (test.Words == nil) {
				t.Fatalf("error %v\n%s", err, out)
			}
			for _, word := range test.Words {
				if !strings.Contains(out, word) {
					t.Errorf("%q is not in\n%.1500s", word, out)
				}
			}
		})
	}
	out, err := cluster.Kubectl(t, "", "get", "outlooks", "-n", "inference", "--as=stranger")
	if err == nil || !strings.Contains(out, "forbidden") {
		t.Errorf("a stranger sees: %v\n%s", err, out)
	}
}
