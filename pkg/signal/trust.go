package signal

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Trust is what an operator configures about the series in a store: which of them count.
type Trust struct {
	// Exporters are the namespaces whose pods may report metrics of pods in other namespaces: the namespaces of dcgm-exporter,
	// kube-state-metrics, the node agent and gateways. If any other pod reports metrics of another namespace, they do not count.
	// (The owner of a pod cannot forge its namespace, but can forge the job, which Prometheus may take from a label of the pod.)
	Exporters []string
	// Cluster that the series belong to; empty where the store has one cluster only.
	Cluster promexpr.Cluster
	// ScrapeInterval is the longest time between two scrapes of a server. 0 means at most 30 s. Presets compute rates over four scrape
	// intervals, and at least two minutes.
	ScrapeInterval time.Duration
}

// MaxScrapeInterval is the longest scrape interval. A gauge counts for five minutes, so with a longer interval it would disappear
// between two scrapes.
const MaxScrapeInterval = 5 * time.Minute

// DefaultTrust is in the namespaces that the charts of the common exporters are installed in, and in every cluster.
func DefaultTrust() Trust {
	return Trust{Exporters: []string{"forewarm-agent", "gpu-operator", "kube-system", "monitoring", "prometheus"}}
}

// reporters returns the matcher for the scrapes that may report the pods of a namespace: the namespace's own scrapes and those of the
// exporters.
func (t Trust) reporters(own ...string) string {
	from := slices.Concat(own, t.Exporters)
	slices.Sort(from)
	from = slices.Compact(from)
	for i, namespace := range from {
		from[i] = regexp.QuoteMeta(namespace)
	}
	return fmt.Sprintf("namespace=~%q", strings.Join(from, "|"))
}

// Validate returns every problem.
func (t Trust) Validate() error {
	problems := []error{t.Cluster.Validate()}
	if t.ScrapeInterval < 0 || t.ScrapeInterval > MaxScrapeInterval {
		err := fmt.Errorf("a scrape interval of %s; expected at most %s", t.ScrapeInterval, MaxScrapeInterval)
		problems = append(problems, err)
	}
	for _, namespace := range t.Exporters {
		problems = append(problems, checkName("namespace of exporters", namespace))
	}
	return errors.Join(problems...)
}

// UntrustedExporters is PromQL for the namespaces whose reports of a rendered preset's pods do not count, one series for each: those of
// pods of other namespaces that are no exporters. It is empty for an expression that reads no reports.
func UntrustedExporters(expr string) string {
	var refused []string
	for _, s := range promexpr.Selectors(expr) {
		if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Name == "exported_namespace" && m.Value != ""
		}) {
			continue
		}
		other := &parser.VectorSelector{Name: s.Name}
		for _, m := range s.LabelMatchers {
			if m.Name == "namespace" {
				m = labels.MustNewMatcher(labels.MatchNotRegexp, m.Name, m.Value)
			}
			other.LabelMatchers = append(other.LabelMatchers, m)
		}
		if text := "group by (namespace) (" + other.String() + ")"; !slices.Contains(refused, text) {
			refused = append(refused, text)
		}
	}
	return strings.Join(refused, " or ")
}

// Clusters is PromQL for the number of clusters with pods in a namespace of this name, whose demand a preset adds up; empty if
// one is named.
func (t Trust) Clusters(namespace string) string {
	if t.Cluster != "" {
		return ""
	}
	const owners = `group by (cluster) (kube_pod_owner{%s,cluster!=""})`
	name := strconv.Quote(namespace)
	return "count(" + fmt.Sprintf(owners, "exported_namespace="+name+","+t.reporters(namespace)) + " or " +
		fmt.Sprintf(owners, `exported_namespace="",namespace=`+name) + ")"
}
