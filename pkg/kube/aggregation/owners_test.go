package aggregation //nolint:testpackage // The words, without a cluster.

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/casetest"
)

const (
	ours   Service = "forewarm-system/forewarm"
	kedas  Service = "keda/keda-metrics-apiserver"
	others Service = "monitoring/prometheus-adapter"
)

func TestConditionSaysWhoHoldsWhat(t *testing.T) {
	for _, c := range casetest.Read[struct {
		Name     string
		Holdings GroupOwners
		Away     map[string]string
		Reaches  bool
		Reason   string
		Words    []string
	}](t, "owners.yaml") {
		got := c.Holdings.condition(ours, c.Away)
		if got.True != c.Reaches || got.Reason != c.Reason {
			t.Errorf("%s: %v, %s, want %v, %s", c.Name, got.True, got.Reason, c.Reaches, c.Reason)
		}
		for _, word := range c.Words {
			if !strings.Contains(got.Message, word) {
				t.Errorf("%s: %q is not in %q", c.Name, word, got.Message)
			}
		}
	}
}

func TestChangesAreThoseOfHands(t *testing.T) {
	taken := change{
		group: External, lost: true,
		message: "external.metrics.k8s.io now leads to keda/keda-metrics-apiserver; previously it led to Forewarm",
	}
	back := change{
		group: External, gained: true,
		message: "external.metrics.k8s.io now leads to Forewarm; previously it led to keda/keda-metrics-apiserver",
	}
	gone := change{
		group:   Custom,
		lost:    true,
		message: "custom.metrics.k8s.io now leads nowhere; previously it led to Forewarm",
	}
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
