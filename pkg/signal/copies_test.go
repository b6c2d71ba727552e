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
			if strings.HasPrefix(labels, "container=") &&
				(strings.Contains(line, "container=") || strings.Contains(line, "forewarm_")) {
				labels = strings.Replace(labels, "container=", "endpoint=", 1) // The series has a container of its own.
			}
			before, after, ok := strings.Cut(line, "{")
			if !ok {
				out.WriteString(line)
				break
			}
			out.WriteString(before + "{" + labels + "," + after)
		}
	}
	return out.String()
}

// copies are the ways in which a store has one scrape twice.
func copies() []struct{ how, first, second string } {
	return []struct{ how, first, second string }{
		{"an HA pair of Prometheus without deduplication", `prometheus_replica="p-0"`, `prometheus_replica="p-1"`},
		{"a pod with two containers, scraped by its annotation", `container="server"`, `container="istio-proxy"`},
		{
			"a Service and its headless twin",
			`job="llama",service="llama"`,
			`job="llama-headless",service="llama-headless"`,
		},
		{"the same pod under two tenants", `tenant_id="a"`, `tenant_id="b"`},
		{"a replica label of another name", `my_own="a"`, `my_own="b"`},
	}
}

// A copy of a scrape is no demand: every preset has the same value with every kind of copies.
func TestCopiesOfAScrapeAreNoDemand(t *testing.T) {
	for i, s := range scenarios() {
		if testing.Short() && i%10 > 0 {
			continue
		}
		target := signal.Target{Kind: s.kind, Name: s.name}
		if s.kind == "" {
			target = signal.Target{Kind: "Deployment", Name: "llama"}
		}
		expr := render(t, s.preset, target)
		ways := copies()
		if s.trap != "" { // One is enough: each way is tried with some of the traps.
			ways = ways[i%len(ways):][:1]
		}
		for _, c := range ways {
			load := copied(owners+neighbours+shorthands.Replace(s.load), c.first, c.second)
			t.Run(fmt.Sprintf("%s/%s/%s", s.preset, s.trap, c.how), func(t *testing.T) {
				evaluates(t, load, expectation{expr: expr, want: s.want})
			})
		}
	}
}
