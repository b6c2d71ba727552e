package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// An HPA's GET is answered past the library's router. A further parameter without meaning leads through it: the bytes are the same.
func TestExternalMetricsAreAnsweredAsTheLibraryDoes(t *testing.T) {
	base, _ := startCluster(t, snapshottest.Store(snapshottest.EveryState()...), apiserver.AllGroups())
	client := insecureClient(t)
	waitReady(t, client, base)
	counted := func() int {
		return strings.Count(get(t, client, base+"/metrics", token("allowed")).body, `group="external.metrics.k8s.io"`)
	}
	for _, accept := range []string{
		"", "*/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf,application/json",
		"application/vnd.kubernetes.protobuf", "text/html", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
	} {
		for _, metric := range []string{"ready", "objective", "stale", "pending", "unknown", "ready/", "%72eady", "a%2Fb", "status"} {
			for _, selector := range []string{
				"", "quantile%3D0.99", "quantile+in+(0.99)", "quantile%3D0.99%2Cserve%3Dforecast", "quantile%3D2", "colour%3Dred",
				"%3D%3D", "quantile%21%3D0.9", "a%00", "%25zz", strings.Repeat("a", 1100),
			} {
				url := externalURL(base, "inference", metric, selector)
				further := "?limit=0"
				if selector != "" {
					further = "&limit=0"
				}
				for range 2 { // The second finds the selector parsed.
					ours := get(t, client, url, token("allowed"), "Accept: "+accept)
					library := get(t, client, url+further, token("allowed"), "Accept: "+accept)
					for _, header := range []http.Header{ours.header, library.header} {
						header.Del("Audit-Id")
						header.Del("Date")
					}
					if ours.code != library.code || ours.body != library.body ||
						len(ours.header) != len(library.header) {
						t.Fatalf(
							"%s %s?%s: %d %v %q\nby the library %d %v %q",
							accept,
							metric,
							selector,
							ours.code,
							ours.header,
							ours.body,
							library.code,
							library.header,
							library.body,
						)
					}
					for name := range library.header {
						if ours.header.Get(name) != library.header.Get(name) {
							t.Errorf(
								"%s %s?%s: %s: %q, by the library %q",
								accept,
								metric,
								selector,
								name,
								ours.header.Get(name),
								library.header.Get(name),
							)
						}
					}
				}
			}
		}
	}
	if counted() == 0 {
		t.Error("the requests are not counted")
	}
}
