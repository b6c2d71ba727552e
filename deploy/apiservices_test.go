package deploy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

const (
	external = "v1beta1.external.metrics.k8s.io"
	inspect  = "v1alpha1.inspect.forewarm.dev"
)

// testAPIServices: what RBAC cannot restrict, the admission policy does, for Forewarm's account and no other.
func testAPIServices(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	expectAPIServicesConfined(t, c, "forewarm-system", "forewarm")
}

// expectAPIServicesConfined creates, changes and deletes APIServices as the account of a release.
func expectAPIServicesConfined(t *testing.T, c *apiservertest.Cluster, namespace, name string) {
	t.Helper()
	as := "--as=system:serviceaccount:" + namespace + ":" + name
	own, other := namespace+"/"+name, "keda/keda-operator-metrics-apiserver"
	refused := func(why, input string, args ...string) {
		t.Helper()
		output, err := c.Kubectl(t, input, append(args, as)...)
		if err == nil || !strings.Contains(output, why) {
			t.Errorf("kubectl %q is not refused because %q: %v\n%s", args, why, err, output)
		}
	}
	patch := func(patch string) []string {
		return []string{"patch", "apiservice", external, "--type=merge", "--patch=" + patch}
	}

	// A policy that was just created is not active at once.
	apiservertest.Eventually(t, 20*time.Second, func() string {
		output, err := c.Kubectl(t, apiService("v1.example.com", own), "create", "--dry-run=server", "-f", "-", as)
		if err == nil || !strings.Contains(output, "creates only") {
			return fmt.Sprintf("the policy is not active: %v\n%s", err, output)
		}
		return ""
	})
	refused("creates only", apiService(external, other), "create", "-f", "-")
	refused("creates only", apiService(external, namespace+"/other"), "create", "-f", "-")
	refused("creates only", apiService("v1beta1.custom.metrics.k8s.io", own), "create", "-f", "-")
	for _, right := range []string{external, "v1beta2.custom.metrics.k8s.io", inspect} {
		c.MustKubectl(t, apiService(right, own), "create", "-f", "-", as)
	}

	c.MustKubectl(t, "", append(patch(`{"spec": {"versionPriority": 50}}`), as)...)
	refused("does not change where", "", patch(`{"spec": {"service": {"name": "other"}}}`)...)
	refused("does not change where", "", patch(`{"spec": {"service": null}}`)...)

	// KEDA takes the group: Forewarm may let go, and nothing else.
	c.MustKubectl(t, "", patch(owned(t, c, name))...)
	c.MustKubectl(t, "", patch(
		`{"spec": {"service": {"namespace": "keda", "name": "keda-operator-metrics-apiserver"}}}`)...)
	refused("does not change an APIService", "", patch(`{"spec": {"versionPriority": 60}}`)...)
	refused("does not change where", "", patch(
		`{"spec": {"service": {"namespace": "`+namespace+`", "name": "`+name+`"}}}`)...)
	refused("does not delete", "", "delete", "apiservice", external)
	c.MustKubectl(t, "", append(patch(`{"metadata": {"ownerReferences": null}}`), as)...)

	c.MustKubectl(t, "", "delete", "apiservice", inspect, as)
	c.MustKubectl(t, "", "delete", "apiservice", external, "v1beta2.custom.metrics.k8s.io")
}

// owned is a patch that makes the ClusterRole of a release the owner.
func owned(t *testing.T, c *apiservertest.Cluster, name string) string {
	t.Helper()
	uid := c.MustKubectl(t, "", "get", "clusterrole", name+":server", "-o", "jsonpath={.metadata.uid}")
	return `{"metadata": {"ownerReferences": [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", ` +
		`"name": "` + name + `:server", "uid": "` + uid + `"}]}}`
}

// apiService is an APIService that leads to a Service, NAMESPACE/NAME.
func apiService(name, service string) string {
	version, group, _ := strings.Cut(name, ".")
	namespace, service, _ := strings.Cut(service, "/")
	return fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: %s}
spec:
  group: %s
  version: %s
  groupPriorityMinimum: 100
  versionPriority: 100
  service: {namespace: %s, name: %s}
`, name, group, version, namespace, service)
}
