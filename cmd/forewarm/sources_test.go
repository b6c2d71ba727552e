package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// A source is granted, taken away while it is in use, and granted again, in a cluster and without a restart. What a
// Forecast may not read is in its Ready condition; its metric is an error, so that an HPA keeps its replicas.
func TestSourcesInACluster(t *testing.T) {
	s := &scene{Cluster: apiservertest.Start(t)}
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	file := filepath.Join(t.TempDir(), "sources.yaml")
	grant := func(namespaces string) {
		t.Helper()
		text := fmt.Sprintf("sources:\n- {name: own, url: %q, namespaces: [%s]}\n", history.URL, namespaces)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant("team")
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	s.MustKubectl(t, "", "create", "namespace", "team")
	s.MustKubectl(t, "", "create", "namespace", "thief")
	s.MustKubectl(t, forecast("load", "query: up, source: own", "0.9"), "apply", "-f", "-")
	s.MustKubectl(t, strings.ReplaceAll(forecast("load", "query: up, source: own", "0.9"), "namespace: team",
		"namespace: thief"), "apply", "-f", "-")
	s.replicas = append(s.replicas, start(t, s.Cluster, "--sources-file="+file))
	s.Route(t, system, "forewarm", s.replicas[0].port(t), 3)
	condition := func(namespace, want string) {
		t.Helper()
		eventually(t, func() string {
			got := s.MustKubectl(t, "", "get", "forecast", "load", "-n", namespace, "-o",
				`jsonpath={.status.state} {.status.conditions[?(@.type=="Ready")].message}`)
			if strings.Contains(got, want) {
				return ""
			}
			return fmt.Sprintf("%s: %q is not in the status: %s", namespace, want, got)
		})
	}
	const refused = "Invalid spec.signal.source"
	s.serves(t, metric)
	condition("team", "Warming ")
	condition("thief", refused)
	grant("other")
	condition("team", refused)
	eventually(t, func() string {
		if s.wrong(t, metric) == "" {
			return "the metric is still served"
		}
		return ""
	})
	grant("team, thief")
	s.serves(t, metric)
	s.serves(t, strings.Replace(metric, "/team/", "/thief/", 1))
	condition("thief", "Warming ")
}
