package pools_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// TestWhatABufferSays reads the statuses that Cluster Autoscaler and Karpenter write.
func TestWhatABufferSays(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range casetest.Read[struct {
		Name, Status, Remark string
		Minutes              int // since it was made
		Ready                int32
	}](t, "buffers.yaml") {
		fields := map[string]any{}
		made := noon.Add(-time.Duration(c.Minutes) * time.Minute).Format(time.RFC3339)
		text := "metadata: {name: b, creationTimestamp: " + made + "}\n" +
			"spec: {replicas: 3, podTemplateRef: {name: b}}\nstatus: " + c.Status
		if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		ready, remark, err := pools.ReadBuffer(fields, noon)
		if err != nil || ready != c.Ready || !strings.Contains(remark, c.Remark) || (c.Remark == "") != (remark == "") {
			t.Errorf("%s: %d ready, %q, %v; want %d, %q", c.Name, ready, remark, err, c.Ready, c.Remark)
		}
	}
}
