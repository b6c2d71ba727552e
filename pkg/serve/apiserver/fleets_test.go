package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

const (
	fleetsPath = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/gpufleets"
	sparePath  = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/inference/gpufleets.forewarm.dev/"
	externPath = "/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/"
)

func startWithFleets(t *testing.T) string {
	t.Helper()
	d := deps(snapshottest.Store(snapshottest.EveryState()...))
	d.Fleets = fleettest.Store()
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, d)
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, server)
	waitLive(t, server.URL())
	return server.URL()
}

func TestFleetsOverHTTP(t *testing.T) {
	base, client := startWithFleets(t), apiPlain(t)
	for _, test := range []struct {
		path  string
		code  int
		words []string
	}{
		{externPath + "h100-spare?labelSelector=batch%3Dembeddings", 200, []string{`"value":"12"`, `"window":1200`}},
		{externPath + "h100-spare", 400, []string{"embeddings and evals"}},
		{externPath + "stale-spare?labelSelector=batch%3Dembeddings", 503, []string{"3m15s old"}},
		{externPath + "secret-spare?labelSelector=batch%3Dembeddings", 404, []string{"not found"}},
		{"/apis/custom.metrics.k8s.io/v1beta2", 200, []string{`"gpufleets.forewarm.dev/spare"`, `forewarm.dev/demand"`}},
		{sparePath + "h100/spare?metricLabelSelector=batch%3Dembeddings", 200, []string{`"value":"12"`, `"GPUFleet"`}},
		{sparePath + "h100/spare", 400, []string{"embeddings and evals"}},
		{sparePath + "secret/spare?metricLabelSelector=batch%3Dembeddings", 404, []string{"not found"}},
		{fleetsPath, 200, []string{`"kind":"FleetOutlookList"`, `"name":"h100"`}},
		{fleetsPath + "/h100", 200, []string{`"kind":"FleetOutlook"`, `"replicas":12`, `"total":[`}},
		{fleetsPath + "/secret", 404, []string{`gpufleets.inspect.forewarm.dev \"secret\" not found`}},
		{fleetsPath + "/h100/page", 200, []string{"<!DOCTYPE html>", "The day ahead"}},
		{fleetsPath + "/secret/page", 404, []string{"not found"}},
	} {
		got := get(t, client, base+test.path)
		if got.code != test.code {
			t.Errorf("%s: code %d, want %d", test.path, got.code, test.code)
		}
		for _, word := range test.words {
			if !strings.Contains(got.body, word) {
				t.Errorf("%s does not hold %s:\n%.600s", test.path, word, got.body)
			}
		}
	}
	got := get(t, client, base+fleetsPath, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	if !strings.Contains(got.body, `"embeddings 12, evals 0"`) {
		t.Errorf("the table is\n%s", got.body)
	}
}

// Without fleets nothing about them is served or discovered.
func TestNoFleetsOverHTTP(t *testing.T) {
	base, client := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...)), apiPlain(t)
	for _, path := range []string{
		fleetsPath, fleetsPath + "/h100/page", externPath + "h100-spare", sparePath + "h100/spare",
	} {
		if got := get(t, client, base+path); got.code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	for _, path := range []string{"/apis/inspect.forewarm.dev/v1alpha1", "/apis/custom.metrics.k8s.io/v1beta2"} {
		if got := get(t, client, base+path); got.code != http.StatusOK || strings.Contains(got.body, "gpufleets") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}
