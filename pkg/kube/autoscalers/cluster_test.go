package autoscalers_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
)

func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *apiservertest.Cluster)
	}{
		{"RightsThatCome", testRights},
		{"KEDAThatComesAndGoes", testKEDA},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// follow runs a watch for as long as the test, in a hurry.
func follow(t *testing.T, access *rest.Config) *autoscalers.Watch {
	t.Helper()
	watch, err := autoscalers.New(access, hurry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, watch)
	return watch
}

func expectProblem(t *testing.T, watch *autoscalers.Watch, want string) {
	t.Helper()
	eventually(t, func() string { return apiservertest.Differs("problem", watch.Problem(), want) })
}

// hpaText is an HPA that scales llama on an External metric: its name, the metric and the target.
const hpaText = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %s, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics: [{type: External, external: {metric: {name: %s}, target: {type: AverageValue, averageValue: %d}}}]
`

// createHPA creates the HPA llama for as long as the test.
func createHPA(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, fmt.Sprintf(hpaText, "llama", "inflight", 64), "create", "-f", "-")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "hpa", "llama") })
}

func testRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createHPA(t, c)
	watch := follow(t, c.User(t, "newcomer"))
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("a refusal does not settle the watch")
	}
	// The API server says so too of a kind that it does not know.
	expectProblem(
		t,
		watch,
		"Forewarm is not allowed to read HorizontalPodAutoscalers: apply deploy/default, or upgrade the chart; "+
			"Forewarm is not allowed to read ScaledObjects: apply deploy/default, or upgrade the chart",
	)
	expect(t, watch, "")
	c.MustKubectl(t, "", "create", "clusterrole", "scalers", "--verb=list,watch",
		"--resource=horizontalpodautoscalers.autoscaling")
	c.MustKubectl(t, "", "create", "clusterrolebinding", "scalers", "--clusterrole=scalers", "--user=newcomer")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "clusterrole,clusterrolebinding", "scalers") })
	expect(t, watch, "HorizontalPodAutoscaler/llama=64")
	expectProblem(t, watch, "Forewarm is not allowed to read ScaledObjects: apply deploy/default, or upgrade the chart")
}

// testKEDA installs KEDA's kind while the watch runs, and takes it away again.
func testKEDA(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createHPA(t, c)
	watch := follow(t, c.Config)
	expect(t, watch, "HorizontalPodAutoscaler/llama=64")
	expectProblem(t, watch, "")

	c.MustKubectl(t, "", "create", "-f", "pkg/kube/autoscalers/testdata/scaledobjects.yaml")
	c.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/scaledobjects.keda.sh")
	text, err := scaled().MarshalJSON()
	must(t, err)
	c.MustKubectl(t, string(text), "create", "-f", "-")
	expect(t, watch, "HorizontalPodAutoscaler/llama=64 ScaledObject/b=16")
	before := watch.References(inflight)

	c.MustKubectl(t, "", "patch", "scaledobject", "b", "--subresource=status", "--type=merge", "-p",
		`{"status": {"hpaName": "x"}}`)
	c.MustKubectl(t, "", "annotate", "hpa", "llama", "note=1")
	c.MustKubectl(t, "", "patch", "hpa", "llama", "--subresource=status", "--type=merge", "-p",
		`{"status": {"currentReplicas": 3, "desiredReplicas": 4, "conditions": [], "currentMetrics": []}}`)
	time.Sleep(500 * time.Millisecond)
	if after := watch.References(inflight); &after[0] != &before[0] {
		t.Errorf("a status rebuilt the list: %s", say(after))
	}
	c.MustKubectl(t, "", "delete", "crd", "scaledobjects.keda.sh")
	expect(t, watch, "HorizontalPodAutoscaler/llama=64")
	expectProblem(t, watch, "")
}
