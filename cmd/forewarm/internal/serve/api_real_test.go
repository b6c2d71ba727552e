package serve_test

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/apiservices"
	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// grant lets the user "viewer" see the outlooks and read the metrics of one namespace, and nothing else.
const grant = `
apiVersion: v1
kind: Namespace
metadata: {name: inference}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: viewer, namespace: inference}
rules:
- {apiGroups: [inspect.forewarm.dev], resources: [outlooks], verbs: [get, list]}
- {apiGroups: [external.metrics.k8s.io], resources: [ready], verbs: [list]}
- {apiGroups: [custom.metrics.k8s.io], resources: [forecasts.forewarm.dev/demand], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewer, namespace: inference}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: viewer}]
`

// startReal serves in cluster mode beside a real kube-apiserver, with a certificate that it can verify by the bundle.
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
	apis, err := serve.NewCluster(options, deps(snapshottest.Store(snapshottest.EveryState()...)))
	if err != nil {
		t.Fatal(err)
	}
	run(t, apis)
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
	viewer, stranger := as(t, cluster.User(t, "viewer")), as(t, cluster.User(t, "stranger"))
	const (
		external  = "/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/"
		elsewhere = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/elsewhere/outlooks"
	)
	tests := []struct {
		name   string
		client *http.Client
		path   string
		code   int
	}{
		{"anonymous", insecureClient(t), external + "ready", 403},
		{"a user without rights", stranger, external + "ready", 403},
		{"a user without rights reads no outlook", stranger, outlooksPath, 403},
		{"granted: the metric", viewer, external + "ready", 200},
		{"granted: the metric with a selector", viewer, external + "ready?labelSelector=quantile%3D0.9", 200},
		{"not granted: another metric", viewer, external + "objective", 403},
		{"granted: the Object metric", viewer, objectPath + "/ready/demand", 200},
		{"granted: outlooks", viewer, outlooksPath, 200},
		{"granted: one outlook", viewer, outlooksPath + "/ready", 200},
		{"not granted: a sub-resource", viewer, outlooksPath + "/ready/page", 403},
		{"not granted: the front page", viewer, outlooksPath + "/-/frontpage", 403},
		{"an administrator: the front page", as(t, cluster.Config), outlooksPath + "/-/frontpage", 200},
		{"not granted: another namespace", viewer, elsewhere, 403},
		{"not granted: all namespaces", viewer, "/apis/inspect.forewarm.dev/v1alpha1/outlooks", 403},
		{"not granted: telemetry", viewer, "/metrics", 403},
		{"an administrator: telemetry", as(t, cluster.Config), "/metrics", 200},
		{"health is for all", insecureClient(t), "/readyz", 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := get(t, test.client, base+test.path); got.code != test.code {
				t.Errorf("%d, want %d: %.300s", got.code, test.code, got.body)
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
	watch, err := apiservices.New(cluster.Config, "forewarm-system/forewarm", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	groups := serve.AllGroups()
	apiservertest.Background(t, watch.Run)
	apiservertest.Background(t, func(ctx context.Context) error {
		watch.Hold(ctx, serve.WallClock{}, apiservices.HoldConfig{
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
	tests := []struct {
		args  []string
		words []string
	}{
		{[]string{"get", "outlooks", "-A"}, []string{"139.2", "FallingBack"}},
		{[]string{"explain", "outlooks.status.late"}, []string{"share of demand"}},
		{[]string{"get", "--raw", outlooksPath + "/ready/page"}, []string{"<!DOCTYPE html>"}},
		{[]string{"get", "--raw", outlooksPath + "/-/frontpage"}, []string{"<!DOCTYPE html>", "falling-back"}},
		{[]string{"get", "--raw", externalURL("", "inference", "ready", "horizon%3D5m")}, []string{`"window":300`}},
		{[]string{"get", "--raw", objectPath + "/ready/demand"}, []string{"139237m"}},
		{[]string{"auth", "can-i", "get", "outlooks", "--subresource=page", "-n", "inference", "--as=viewer"}, nil},
		{[]string{"get", "outlooks", "-n", "inference", "--as=viewer"}, []string{"139.2"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			out, err := cluster.Kubectl(t, "", test.args...)
			for tries := 0; err != nil && test.words != nil && tries < 40; tries++ {
				time.Sleep(500 * time.Millisecond) // The kube-apiserver fetches OpenAPI documents in its own time.
				out, err = cluster.Kubectl(t, "", test.args...)
			}
			if (err != nil) != (test.words == nil) {
				t.Fatalf("error %v\n%s", err, out)
			}
			for _, word := range test.words {
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
