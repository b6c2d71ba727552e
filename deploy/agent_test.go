package deploy_test

import (
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// testAgent applies the node agent, which is no part of the default.
func testAgent(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for range 2 {
		output := c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/agent")
		if strings.Contains(output, "Warning") {
			t.Errorf("the API server warns: %s", output)
		}
	}
	// A pod of it is one that its namespace admits; the runtime class is the node's to bring.
	pod := c.MustKubectl(t, "", "get", "daemonset", "-n", "forewarm-agent", "forewarm-agent", "-o", "json")
	var set apps.DaemonSet
	if err := yaml.Unmarshal([]byte(pod), &set); err != nil {
		t.Fatal(err)
	}
	set.Spec.Template.Spec.RuntimeClassName = nil
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "agent", "namespace": "forewarm-agent"}, "spec": set.Spec.Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	if token := set.Spec.Template.Spec.AutomountServiceAccountToken; token == nil || *token {
		t.Error("the agent holds an API token")
	}
	c.MustKubectl(t, string(text), "create", "--dry-run=server", "-f", "-")
}
