package apiserver_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// BenchmarkServe is an HPA's request through TLS, authentication, authorization and the API, with 50 Forecasts and 300 selectors, for
// profiles and allocations. The client lives in the same process. What a request costs alongside others is measured by
// `make bench-serving`.
func BenchmarkServe(b *testing.B) {
	base, _ := startCluster(b, snapshottest.Store(snapshottest.Many(50)...), apiserver.AllGroups())
	client := insecureClient(b)
	waitReady(b, client, base)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		url := externalURL(base, "team-0", fmt.Sprintf("model-%d", n%10), fmt.Sprintf("quantile%%3D0.%d", 600+n%300))
		if got := get(b, client, url, token("allowed")); got.code != http.StatusOK {
			b.Fatalf("%d %s", got.code, got.body)
		}
		n++
	}
}
