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
		holdings GroupOwners
		away     map[string]string
		reaches  bool
		reason   string
		words    []string
	}{
		"all are ours": {
			GroupOwners{External: {ours}, Custom: {ours}},
			nil,
			true, "Reachable",
			[]string{"external.metrics.k8s.io leads here, custom.metrics.k8s.io leads here"},
		},
		"beside KEDA": {
			GroupOwners{External: {kedas}, Custom: {ours}},
			map[string]string{External: "FailedDiscoveryCheck: not ours"},
			true, "ObjectMetricOnly",
			[]string{"leads to keda/keda-metrics-apiserver", "Object metric"},
		},
		"beside prometheus-adapter": {
			GroupOwners{External: {ours}, Custom: {others}},
			nil,
			true, "ExternalMetricOnly",
			[]string{"leads to monitoring/prometheus-adapter", "External metric"},
		},
		"nothing is ours": {
			GroupOwners{External: {kedas}, Custom: {others}}, nil, false, "OwnedByOthers", []string{string(kedas), string(others), "trigger"},
		},
		"one version was taken": {
			GroupOwners{External: {kedas}, Custom: {ours, others}},
			nil,
			false, "OwnedByOthers",
			[]string{"leads to forewarm-system/forewarm and monitoring/prometheus-adapter"},
		},
		"ours, and not reached": {
			GroupOwners{External: {ours}, Custom: {ours}},
			map[string]string{Custom: "FailedDiscoveryCheck: x509: expired"},
			false, "APIServiceUnavailable",
			[]string{"x509: expired", "kubectl describe apiservice v1beta2.custom.metrics.k8s.io"},
		},
		"nobody has any": {GroupOwners{}, nil, false, "NoAPIService", []string{"leads nowhere", "leader"}},
	} {
		got := c.holdings.condition(ours, c.away)
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
		message: "external.metrics.k8s.io leads to keda/keda-metrics-apiserver; before, it led here",
	}
	back := change{
		group: External, gained: true,
		message: "external.metrics.k8s.io leads here; before, it led to keda/keda-metrics-apiserver",
	}
	gone := change{group: Custom, lost: true, message: "custom.metrics.k8s.io leads nowhere; before, it led here"}
	all, without := GroupOwners{External: {ours}, Custom: {ours}}, GroupOwners{External: {kedas}, Custom: {ours}}
	for name, c := range map[string]struct {
		before, now GroupOwners
		want        []change
	}{
		"at first nothing is known":  {nil, all, nil},
		"nothing":                    {all, GroupOwners{External: {ours}, Custom: {ours}}, nil},
		"taken":                      {all, without, []change{taken}},
		"given back":                 {without, all, []change{back}},
		"its APIService was deleted": {all, GroupOwners{External: {ours}}, []change{gone}},
	} {
		if diff := cmp.Diff(c.want, changesSince(c.before, c.now, ours), cmp.AllowUnexported(change{})); diff != "" {
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
