package pools_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// TestWhatABufferSays reads the statuses that Cluster Autoscaler and Karpenter write.
func TestWhatABufferSays(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, status string
		age          time.Duration
		ready        int32
		remark       string
	}{
		{name: "just made", status: "{}", age: time.Minute},
		{name: "nobody cares", status: "{}", age: time.Hour, remark: "check that an autoscaler for CapacityBuffers runs"},
		{
			name:   "resolved and not taken up yet",
			status: `{replicas: 3, conditions: [{type: ReadyForProvisioning, status: "True", reason: r}]}`,
		},
		{
			name: "taken up by Cluster Autoscaler",
			status: `{replicas: 3, conditions: [{type: ReadyForProvisioning, status: "True", reason: r},
				{type: Provisioning, status: "True", reason: FakePodsInjected}]}`,
			ready: 3,
		},
		{
			name: "more than is asked for by now",
			status: `{replicas: 7, conditions: [{type: ReadyForProvisioning, status: "True", reason: r},
				{type: Provisioning, status: "True", reason: FakePodsInjected}]}`,
			ready: 3,
		},
		{
			name: "Karpenter makes a node",
			status: `{replicas: 3, conditions: [{type: ReadyForProvisioning, status: "True", reason: Resolved},
				{type: Provisioning, status: "True", reason: RequiresNewCapacity}]}`,
		},
		{
			name: "Karpenter has the nodes",
			status: `{replicas: 3, conditions: [{type: ReadyForProvisioning, status: "True", reason: Resolved},
				{type: Provisioning, status: "True", reason: FitsExistingCapacity}]}`,
			ready: 3,
		},
		{
			name: "a quota",
			status: `{replicas: 1, conditions: [{type: ReadyForProvisioning, status: "True", reason: r},
				{type: Provisioning, status: "True", reason: FakePodsInjected},
				{type: LimitedByQuotas, status: "True", reason: ResourceQuotasAllocated, message: "gpus"}]}`,
			ready: 1, remark: "a quota limits the CapacityBuffer b to 1 of 3 chunks (gpus): raise it",
		},
		{
			name:   "no template",
			status: `{conditions: [{type: ReadyForProvisioning, status: "False", reason: error, message: "no template"}]}`,
			remark: "not ReadyForProvisioning: no template (error)",
		},
		{
			name: "no node group fits",
			status: `{replicas: 3, conditions: [{type: ReadyForProvisioning, status: "True", reason: r},
				{type: Provisioning, status: "False", reason: NoFit, message: "no group"}]}`,
			remark: "not Provisioning: no group (NoFit)",
		},
	} {
		fields := map[string]any{}
		text := "metadata: {name: b, creationTimestamp: " + noon.Add(-c.age).Format(time.RFC3339) + "}\n" +
			"spec: {replicas: 3, podTemplateRef: {name: b}}\nstatus: " + c.status
		if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		ready, remark, err := pools.ReadBuffer(fields, noon)
		if err != nil || ready != c.ready || !strings.Contains(remark, c.remark) || (c.remark == "") != (remark == "") {
			t.Errorf("%s: %d ready, %q, %v; want %d, %q", c.name, ready, remark, err, c.ready, c.remark)
		}
	}
}
