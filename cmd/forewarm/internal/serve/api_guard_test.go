package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// What is never done here is refused before the cluster is asked who wants it.
func TestReadOnly(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.EveryState()...)
	inCluster, stub := startCluster(t, snapshots, serve.AllGroups())
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
