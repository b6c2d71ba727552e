package neighbours_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// initialized is Karpenter's metric of how long node claims take until their nodes are initialized. Those of pods have no
// labels: they count the pods of every namespace together.
const initialized = "operator_nodeclaim_status_condition_transition_seconds"

// start: replicas of a workload wait for nodes, and then as many start on these.
func (s *karpenterScene) start(t *testing.T, replicas int) {
	t.Helper()
	s.MustKubectl(t, "scale", "deployment", "llama", "-n", measured, fmt.Sprintf("--replicas=%d", replicas))
	ready := func() string {
		if took, _, left := s.started(measured, s.begin); len(took) < replicas || left > 0 {
			return fmt.Sprintf("%s: %d of %d starts", measured, len(took), replicas)
		}
		return ""
	}
	clustertest.MustEventually(t, ready)
	s.MustKubectl(t, "delete", "pods", "-n", measured, "--all")
	replicas *= 2
	clustertest.MustEventually(t, ready)
}

// leadTimes: what Forewarm measures as the lead time of a node is what Karpenter's metrics have.
func (s *karpenterScene) leadTimes(t *testing.T) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		if p := s.status(measured); !strings.Contains(p.LeadTimeSource, "node: p90") {
			return "the lead time of nodes is not measured: " + p.LeadTimeSource
		}
		return ""
	})
	p := s.status(measured)
	lead, err := model.ParseDuration(p.NodeLeadTime)
	if err != nil {
		t.Fatal(err)
	}
	sum, count := s.metric(t, initialized, map[string]string{"karpenter_sh_nodepool": measured, "type": "Initialized"})
	mean := time.Duration(sum / count * float64(time.Second))
	s.log(t, "%s: the lead time of a node is %s (%s)", measured, lead, p.LeadTimeSource)
	s.log(t, "Karpenter: %g node claims were initialized after %s in the mean", count, mean)
	// A lead time is a 0.9 quantile, and has the seconds for which Karpenter waits for further pods.
	if d := time.Duration(lead) - mean; d < -3*time.Second || d > 8*time.Second {
		t.Errorf("the lead time of a node is %s, Karpenter's node claims were initialized after %s", lead, mean)
	}
}

// metric reads the sum and the count of a histogram of Karpenter, over all series with some labels.
func (s *karpenterScene) metric(t *testing.T, name string, labels map[string]string) (sum, count float64) {
	t.Helper()
	response, err := http.Get(s.karpenter.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[name].GetMetric() {
		found := 0
		for _, l := range m.GetLabel() {
			if labels[l.GetName()] == l.GetValue() {
				found++
			}
		}
		if found == len(labels) {
			sum += m.GetHistogram().GetSampleSum()
			count += float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum, count
}
