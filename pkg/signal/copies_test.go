package signal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// copied is a load of which each series is stored twice. The copies differ in labels of scraping alone.
func copied(load, first, second string) string {
	var out strings.Builder
	for line := range strings.Lines(load) {
		for _, labels := range []string{first, second} {
			if strings.HasPrefix(labels, "container=") && (strings.Contains(line, "container=") || strings.Contains(line, "forewarm_")) {
				labels = strings.Replace(labels, "container=", "endpoint=", 1) // The series has a container of its own.
			}
			if before, after, ok := strings.Cut(line, "{"); ok && !strings.Contains(before, "{{") {
				out.WriteString(before + "{" + labels + "," + after)
			} else {
				out.WriteString(line)
				break
			}
		}
	}
	return out.String()
}

// copies are the ways in which a store has one scrape twice.
var copies = map[string][2]string{
	"an HA pair of Prometheus without deduplication": {`prometheus_replica="p-0"`, `prometheus_replica="p-1"`},
	"a replica label of another name":                {`my_own="a"`, `my_own="b"`},
	"a pod with two containers, scraped by its annotation": {
		`container="server"`, `container="istio-proxy"`,
	},
	"a Service and its headless twin": {
		`job="llama",service="llama"`, `job="llama-headless",service="llama-headless"`,
	},
	"the same pod under two tenants": {`tenant_id="a"`, `tenant_id="b"`},
	"an HA pair whose scrapes have been relabeled": {
		`prometheus="monitoring/k8s",prometheus_replica="p-0",group="http"`, `prometheus="monitoring/k8s",prometheus_replica="p-1",group="http"`,
	},
}

// A copy of a scrape is no demand: every scenario has the same value with every kind of copies.
func TestCopiesOfAScrapeAreNoDemand(t *testing.T) {
	for _, s := range scenarios() {
		target := signal.Target{Kind: s.kind, Name: s.name}
		if s.kind == "" {
			target = signal.Target{Kind: "Deployment", Name: "llama"}
		}
		expr := render(t, s.preset, target)
		for how, labels := range copies {
			load := copied(owners+neighbours+shorthands.Replace(s.load), labels[0], labels[1])
			t.Run(fmt.Sprintf("%s/%s/%s", s.preset, s.trap, how), func(t *testing.T) {
				evaluates(t, load, expectation{expr: expr, want: s.want})
			})
		}
	}
}
