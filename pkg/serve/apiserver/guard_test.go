package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// What is never done here is refused before the cluster is asked who wants it.
func TestReadOnly(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.EveryState()...)
	inCluster, stub := startCluster(t, snapshots, apiserver.AllGroups())
	waitReady(t, insecureClient(t), inCluster)
	stub.take()
	for _, base := range []string{startStandalone(t, snapshots), inCluster} {
		for _, test := range []struct {
			method, path, body string
			code               int
		}{
			{http.MethodPost, outlooksPath, `{"kind":"Outlook"}`, http.StatusMethodNotAllowed},
			{http.MethodPut, outlooksPath + "/ready", `{"kind":"Outlook"}`, http.StatusMethodNotAllowed},
			{http.MethodDelete, outlooksPath + "/ready", "", http.StatusMethodNotAllowed},
			{"ANYTHING", "/", "", http.StatusMethodNotAllowed},
			{http.MethodGet, outlooksPath, "body", http.StatusRequestEntityTooLarge},
			{http.MethodGet, "/" + strings.Repeat("x", 10_000), "", http.StatusRequestURITooLong},
		} {
			request, err := http.NewRequestWithContext(context.Background(), test.method, base+test.path,
				strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			got := do(t, insecureClient(t), request, token("stranger"))
			if got.code != test.code || !strings.Contains(got.body, `"kind":"Status"`) {
				t.Errorf("%s %.60s: %d, want %d: %s", test.method, test.path, got.code, test.code, got.body)
			}
		}
	}
	if asked := stub.take(); len(asked) > 0 {
		t.Errorf("the cluster was asked: %+v", asked)
	}
}

// An error is short, whatever is asked: it stands in logs, and in the conditions of HPAs.
func TestErrorsEchoLittle(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf("unknown%d%%3D1", i))
	}
	for name, selector := range map[string]string{
		"a long selector": strings.Repeat("quantile%3D0.9,", 400), "no selector": strings.Repeat("%21", 900),
		"a long value": "quantile%3D" + strings.Repeat("9", 900), "many keys": strings.Join(keys, ","),
		"what cannot be unescaped": strings.Repeat("%zz", 2000), "control characters": strings.Repeat("%07", 900),
	} {
		for _, path := range []string{
			"/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/ready?labelSelector=",
			objectPath + "/ready/demand?metricLabelSelector=",
		} {
			got := get(t, apiPlain(t), base+path+selector)
			if got.code != http.StatusBadRequest || len(got.body) > 1000 {
				t.Errorf("%s: %d with %d bytes, want 400 with few: %.300s", name, got.code, len(got.body), got.body)
			}
		}
	}
}
