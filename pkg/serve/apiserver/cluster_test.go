package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// waitReady asks until the server has all its paths.
func waitReady(tb testing.TB, client *http.Client, base string) {
	tb.Helper()
	for range 200 {
		if get(tb, client, base+"/readyz").code == http.StatusOK {
			return
		}
	}
	tb.Fatalf("not ready: %s", get(tb, client, base+"/readyz").body)
}

func TestDelegatedAuthentication(t *testing.T) {
	base, _ := startCluster(t, snapshottest.Store(snapshottest.EveryState()...), apiserver.AllGroups())
	client := insecureClient(t)
	waitReady(t, client, base)
	paths := []string{
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/ready",
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/inference/forecasts.forewarm.dev/ready/demand",
		"/apis/inspect.forewarm.dev/v1alpha1/outlooks",
		"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/ready",
		"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/ready/page",
		"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/ready/plot",
		"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/-/frontpage",
		"/metrics", "/openapi/v3", "/apis",
	}
	for _, test := range casetest.Read[struct {
		Name    string
		Headers []string
		Code    int
	}](t, "authentication.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			for _, path := range paths {
				if got := get(t, client, base+path, test.Headers...); got.code != test.Code {
					t.Errorf("%s: %d, want %d: %s", path, got.code, test.Code, got.body)
				}
			}
		})
	}
}

// The front page is a right of its own, and gives no list away.
func TestFrontPageNeedsTheRightToList(t *testing.T) {
	base, stub := startCluster(t, snapshottest.Store(snapshottest.EveryState()...), apiserver.AllGroups())
	client := insecureClient(t)
	waitReady(t, client, base)
	stub.take()
	for user, code := range map[string]int{"allowed": http.StatusOK, "allowed-but-list": http.StatusForbidden} {
		got := get(t, client, base+"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/-/frontpage",
			token(user))
		if got.code != code || strings.Contains(got.body, "falling-back") != (code == http.StatusOK) {
			t.Errorf("%s: %d, want %d: %.300s", user, got.code, code, got.body)
		}
		for i, spec := range stub.take() {
			a := spec.ResourceAttributes
			if want := []string{"get frontpage", "list "}[i]; a.Verb+" "+a.Subresource != want ||
				a.Namespace != "inference" {
				t.Errorf("review of %+v, want %s", a, want)
			}
		}
	}
}

func TestHealthNeedsNoRights(t *testing.T) {
	base, _ := startCluster(t, snapshottest.Store(), apiserver.AllGroups())
	client := insecureClient(t)
	waitReady(t, client, base)
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		if got := get(t, client, base+path); got.code != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// An HPA controller with many selectors must not cost a review each.
func TestOneReviewPerUserNamespaceAndMetric(t *testing.T) {
	base, stub := startCluster(t, snapshottest.Store(snapshottest.EveryState()...), apiserver.AllGroups())
	client := insecureClient(t)
	waitReady(t, client, base)
	stub.take()
	for _, user := range []string{"allowed-1", "allowed-2"} {
		for _, metric := range []string{"ready", "objective"} {
			for i := range 40 {
				url := externalURL(base, "inference", metric, fmt.Sprintf("quantile%%3D0.%d", 500+i))
				if got := get(t, client, url, token(user)); got.code != http.StatusOK {
					t.Fatalf("%d %s", got.code, got.body)
				}
			}
		}
	}
	seen := make(map[string]int)
	for _, spec := range stub.take() {
		a := spec.ResourceAttributes
		if a == nil {
			t.Fatalf("review of %+v", spec)
		}
		if a.LabelSelector != nil || a.FieldSelector != nil {
			t.Errorf("a selector is in the review: %+v", a)
		}
		seen[strings.Join([]string{spec.User, a.Verb, a.Group, a.Namespace, a.Resource}, " ")]++
	}
	for _, user := range []string{"allowed-1", "allowed-2"} {
		for _, metric := range []string{"ready", "objective"} {
			key := user + " list external.metrics.k8s.io inference " + metric
			if seen[key] != 1 {
				t.Errorf("%d reviews of %q for 40 selectors, want 1", seen[key], key)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("reviews %v, want 4 kinds", seen)
	}
}

func TestGroupsAreToggles(t *testing.T) {
	base, _ := startCluster(
		t,
		snapshottest.Store(snapshottest.EveryState()...),
		apiserver.Groups{Custom: aggregation.Auto},
	)
	client := insecureClient(t)
	waitReady(t, client, base)
	body := get(t, client, base+"/apis", token("allowed")).body
	if !strings.Contains(body, "custom.metrics.k8s.io") {
		t.Errorf("custom metrics are not served: %s", body)
	}
	for _, off := range []string{"external.metrics.k8s.io", "inspect.forewarm.dev"} {
		if strings.Contains(body, off) {
			t.Errorf("%s is served: %s", off, body)
		}
	}
	if got := get(t, client, externalURL(base, "inference", "ready", ""),
		token("allowed")); got.code != http.StatusNotFound {
		t.Errorf("external metrics answer %d", got.code)
	}
}

func TestClusterConfig(t *testing.T) {
	options := apiserver.DefaultClusterConfig()
	if err := options.Validate(); err != nil {
		t.Errorf("the defaults are invalid: %v", err)
	}
	options.Library.SecureServing.BindPort = 99999
	options.Library.Authorization.AllowCacheTTL = -1
	err := options.Validate()
	if err == nil || !strings.Contains(err.Error(), "99999") || !strings.Contains(err.Error(), "ttl") {
		t.Errorf("error %v does not name both problems", err)
	}
	options = apiserver.DefaultClusterConfig()
	options.Kubeconfig = "/nowhere/kubeconfig"
	_, err = apiserver.NewCluster(options, deps(snapshottest.Store()))
	if err == nil || !strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("error %v does not say what to set", err)
	}
}
