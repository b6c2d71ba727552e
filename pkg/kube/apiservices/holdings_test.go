package apiservices //nolint:testpackage // The words, without a cluster.

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	ours   Service = "forewarm-system/forewarm"
	kedas  Service = "keda/keda-metrics-apiserver"
	others Service = "monitoring/prometheus-adapter"
)

func TestConditionSaysWhoHoldsWhat(t *testing.T) {
	for name, c := range map[string]struct {
		holdings Holdings
		reaches  bool
		reason   string
		words    []string
	}{
		"all are ours": {
			Holdings{External: {ours}, Custom: {ours}},
			true, "Reachable",
			[]string{"external.metrics.k8s.io leads here, custom.metrics.k8s.io leads here"},
		},
		"beside KEDA": {
			Holdings{External: {kedas}, Custom: {ours}},
			true, "AsObjectMetric",
			[]string{"leads to keda/keda-metrics-apiserver", "Object metric"},
		},
		"beside prometheus-adapter": {
			Holdings{External: {ours}, Custom: {others}},
			true, "AsExternalMetric",
			[]string{"leads to monitoring/prometheus-adapter", "External metric"},
		},
		"nothing is ours": {
			Holdings{External: {kedas}, Custom: {others}}, false, "HeldByOthers", []string{string(kedas), string(others), "trigger"},
		},
		"one version was taken": {
			Holdings{External: {kedas}, Custom: {ours, others}},
			false, "HeldByOthers",
			[]string{"leads to forewarm-system/forewarm and monitoring/prometheus-adapter"},
		},
		"nobody has any": {Holdings{}, false, "NoAPIService", []string{"leads nowhere", "deploy/apiservice"}},
	} {
		got := c.holdings.condition(ours)
		if got.True != c.reaches || got.Reason != c.reason {
			t.Errorf("%s: %v, %s, want %v, %s", name, got.True, got.Reason, c.reaches, c.reason)
		}
		for _, word := range c.words {
			if !strings.Contains(got.Message, word) {
				t.Errorf("%s: %q is not in %q", name, word, got.Message)
			}
		}
	}
}

func TestChangesAreThoseOfHands(t *testing.T) {
	taken := change{
		group: External, lost: true,
		words: "external.metrics.k8s.io leads to keda/keda-metrics-apiserver; before, it led here",
	}
	back := change{
		group: External, gained: true,
		words: "external.metrics.k8s.io leads here; before, it led to keda/keda-metrics-apiserver",
	}
	gone := change{group: Custom, lost: true, words: "custom.metrics.k8s.io leads nowhere; before, it led here"}
	all, without := Holdings{External: {ours}, Custom: {ours}}, Holdings{External: {kedas}, Custom: {ours}}
	for name, c := range map[string]struct {
		before, now Holdings
		want        []change
	}{
		"at first nothing is known":  {nil, all, nil},
		"nothing":                    {all, Holdings{External: {ours}, Custom: {ours}}, nil},
		"taken":                      {all, without, []change{taken}},
		"given back":                 {without, all, []change{back}},
		"its APIService was deleted": {all, Holdings{External: {ours}}, []change{gone}},
	} {
		if diff := cmp.Diff(c.want, changes(c.before, c.now, ours), cmp.AllowUnexported(change{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestServiceNames(t *testing.T) {
	for _, good := range []Service{ours, kedas} {
		if err := good.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []Service{"", "forewarm", "a/b/c", "/x", "x/", "UP/x", Service(strings.Repeat("a", 300) + "/x")} {
		if err := bad.Validate(); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}
