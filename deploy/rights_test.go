package deploy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

func testRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	expectRights(t, c, []right{
		{ask{Verb: "list", Group: "forewarm.dev", Resource: "forecasts"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "forecasts", Subresource: "status"}, true},
		{ask{Verb: "watch", Group: "forewarm.dev", Resource: "warmpools"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "warmpools", Subresource: "status"}, true},
		{ask{Verb: "patch", Group: "forewarm.dev", Resource: "warmpools"}, false},
		{ask{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "inference"}, false},
		{
			ask{Verb: "create", Group: "autoscaling.x-k8s.io", Resource: "capacitybuffers", Namespace: "inference"},
			false,
		},
		{ask{Verb: "create", Resource: "podtemplates", Namespace: "inference"}, false},
		{ask{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "create", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "delete", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{ask{Verb: "get", Resource: "secrets", Namespace: "forewarm-system"}, false},
		{ask{Verb: "list", Resource: "secrets", Namespace: "forewarm-system"}, false},
		{ask{Verb: "create", Resource: "secrets", Namespace: "forewarm-system"}, false},
		{ask{Verb: "get", Resource: "secrets", Namespace: "forewarm-system", Name: "forewarm-ca"}, true},
		{ask{Verb: "watch", Resource: "secrets", Namespace: "forewarm-system", Name: "forewarm-ca"}, true},
		{ask{Verb: "update", Resource: "secrets", Namespace: "forewarm-system", Name: "forewarm-ca"}, true},
		{ask{Verb: "delete", Resource: "secrets", Namespace: "forewarm-system", Name: "forewarm-ca"}, false},
		{ask{Verb: "get", Resource: "secrets", Namespace: "inference", Name: "forewarm-ca"}, false},
		{ask{Verb: "get", Resource: "configmaps", Namespace: "kube-system"}, false},
		{ask{Verb: "list", Resource: "pods"}, true},
		{ask{Verb: "watch", Resource: "pods"}, true},
		{ask{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "inference"}, false},
		{ask{Verb: "create", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "inference"}, false},
		{ask{Verb: "delete", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale"}, true},
		{ask{Verb: "get", Group: "leaderworkerset.x-k8s.io", Resource: "leaderworkersets", Subresource: "scale"}, true},
		{ask{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "scale"}, false},
		{ask{Verb: "watch", Group: "apiregistration.k8s.io", Resource: "apiservices"}, true},
		{ask{Verb: "watch", Group: "autoscaling", Resource: "horizontalpodautoscalers"}, true},
		{ask{Verb: "list", Group: "keda.sh", Resource: "scaledobjects"}, true},
		{
			ask{Verb: "update", Group: "autoscaling", Resource: "horizontalpodautoscalers", Namespace: "inference"},
			false,
		},
		{ask{Verb: "patch", Group: "keda.sh", Resource: "scaledobjects", Namespace: "inference"}, false},
		{ask{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "scale"}, false},
		{ask{Verb: "get", Group: "apps", Resource: "deployments"}, false},
		{ask{Verb: "list", Resource: "nodes"}, false},
		{ask{Verb: "update", Group: "apiregistration.k8s.io", Resource: "apiservices"}, false},
		{ask{Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices"}, false},
		// Which ones: testAPIServices.
		{ask{Verb: "create", Group: "apiregistration.k8s.io", Resource: "apiservices"}, true},
		{ask{Verb: "delete", Group: "apiregistration.k8s.io", Resource: "apiservices"}, false},
		{ask{Verb: "get", Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Name: "forewarm:server"}, true},
		{ask{Verb: "get", Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Name: "admin"}, false},
		{
			ask{Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices", Name: "v1.metrics.k8s.io"},
			false,
		},
		{
			ask{
				Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices",
				Name: "v1beta1.external.metrics.k8s.io",
			},
			true,
		},
		{ask{Verb: "create", Resource: "events", Namespace: "forewarm-system"}, true},
		{ask{Verb: "create", Resource: "events", Namespace: "inference"}, true},
		{ask{Verb: "list", Resource: "events", Namespace: "inference"}, false},
		{lease("update", "forewarm-system", "forewarm"), true},
		{lease("update", "forewarm-system", "other"), false},
		{lease("delete", "forewarm-system", "forewarm"), false},
		{lease("create", "inference", "forewarm"), false},
	})
}

// testPeople binds the roles by hand: the controller that adds them to view and edit does not run here.
func testPeople(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "create", "rolebinding", "v", "-n", "inference", "--clusterrole=forewarm:view",
		"--user=viewer")
	c.MustKubectl(t, "", "create", "rolebinding", "e", "-n", "inference", "--clusterrole=forewarm:edit",
		"--user=editor")
	for _, q := range []struct {
		who, verb, group, resource, subresource string
		want                                    bool
	}{
		{"viewer", "list", "forewarm.dev", "forecasts", "", true},
		{"viewer", "list", "forewarm.dev", "warmpools", "", true},
		{"viewer", "create", "forewarm.dev", "warmpools", "", false},
		{"editor", "create", "forewarm.dev", "warmpools", "", true},
		{"editor", "update", "forewarm.dev", "warmpools", "status", false},
		{"viewer", "get", "inspect.forewarm.dev", "outlooks", "", true},
		{"viewer", "list", "inspect.forewarm.dev", "outlooks", "", true},
		{"viewer", "get", "inspect.forewarm.dev", "outlooks", "page", true},
		{"viewer", "get", "inspect.forewarm.dev", "outlooks", "plot", true},
		{"viewer", "get", "inspect.forewarm.dev", "outlooks", "frontpage", true},
		{"viewer", "list", "external.metrics.k8s.io", "llama-inflight", "", true},
		{"viewer", "get", "custom.metrics.k8s.io", "forecasts.forewarm.dev", "demand", true},
		{"viewer", "get", "custom.metrics.k8s.io", "pods", "memory", false},
		{"viewer", "create", "forewarm.dev", "forecasts", "", false},
		{"editor", "create", "forewarm.dev", "forecasts", "", true},
		{"editor", "update", "forewarm.dev", "forecasts", "status", false},
	} {
		question := authorization.ResourceAttributes{
			Namespace: "inference", Verb: q.verb, Group: q.group, Resource: q.resource, Subresource: q.subresource,
		}
		if got := may(t, c, q.who, question); got != q.want {
			t.Errorf("%s may %+v: %v", q.who, question, got)
		}
		question.Namespace = "default"
		if may(t, c, q.who, question) {
			t.Errorf("%s may do so in another namespace: %+v", q.who, question)
		}
	}
}

// testWarmPools: what mode Enforce takes is given by a folder of its own, and no more.
func testWarmPools(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for range 2 {
		c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/warm-pools")
	}
	deployment := func(verb, subresource, name string) ask {
		return ask{
			Verb:        verb,
			Group:       "apps",
			Resource:    "deployments",
			Subresource: subresource,
			Namespace:   "inference",
			Name:        name,
		}
	}
	expectRights(t, c, []right{
		{ask{Verb: "patch", Group: "forewarm.dev", Resource: "warmpools"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "warmpools", Subresource: "finalizers"}, true},
		{ask{Verb: "update", Group: "forewarm.dev", Resource: "warmpools"}, false},
		{ask{Verb: "create", Group: "forewarm.dev", Resource: "warmpools"}, false},
		{ask{Verb: "delete", Group: "forewarm.dev", Resource: "warmpools"}, false},
		{ask{Verb: "patch", Group: "forewarm.dev", Resource: "forecasts"}, false},
		{deployment("create", "", ""), true},
		{deployment("patch", "", ""), true},
		{deployment("delete", "", "h100"), true},
		{deployment("deletecollection", "", ""), false},
		{deployment("update", "scale", "llama"), false},
		{deployment("patch", "scale", "llama"), false},
		// The sample's own Role.
		{deployment("patch", "scale", "summary-asleep"), true},
		{ask{Verb: "create", Group: "autoscaling.x-k8s.io", Resource: "capacitybuffers", Namespace: "inference"}, true},
		{ask{Verb: "create", Resource: "podtemplates", Namespace: "inference"}, true},
		{ask{Verb: "list", Resource: "resourcequotas", Namespace: "inference"}, true},
		{ask{Verb: "get", Group: "scheduling.k8s.io", Resource: "priorityclasses"}, true},
		{ask{Verb: "create", Group: "scheduling.k8s.io", Resource: "priorityclasses"}, false},
		{ask{Verb: "create", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "delete", Resource: "pods", Namespace: "inference"}, false},
		{ask{Verb: "patch", Group: "apps", Resource: "statefulsets", Namespace: "inference"}, false},
		{ask{Verb: "get", Resource: "secrets", Namespace: "inference"}, false},
		{ask{Verb: "list", Resource: "nodes"}, false},
	})
	table := c.MustKubectl(t, "", "get", "warmpools", "-n", "inference")
	if !strings.Contains(table, "BUDGET LEFT") || !strings.Contains(table, "Recommend") {
		t.Errorf("the table:\n%s", table)
	}
	expectPlaceholdersConfined(t, c)
}

// expectPlaceholdersConfined: a quota that leaves out the class of placeholder pods is evaded by nobody.
func expectPlaceholdersConfined(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	create := func(class, image, more string) (string, error) {
		return c.Kubectl(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: inference}
spec: {priorityClassName: %q, containers: [{name: c, image: %q%s}]}
`, class, image, more), "create", "--dry-run=server", "-f", "-")
	}
	const class, pause = "forewarm-placeholder", "registry.k8s.io/pause:3.10"
	apiservertest.Eventually(t, 20*time.Second, func() string { // A policy that was just created is not active at once.
		output, err := create(class, "vllm/vllm-openai", "")
		if err == nil || !strings.Contains(output, "is for placeholder pods") {
			return fmt.Sprintf("a real pod may have the class of placeholders: %v\n%s", err, output)
		}
		return ""
	})
	for _, more := range []string{`, command: [sh]`, `, args: ["-c", "mine"]`, `}, {name: d, image: ` + pause} {
		if output, err := create(class, pause, more); err == nil {
			t.Errorf("a placeholder with %s is admitted: %s", more, output)
		}
	}
	for class, image := range map[string]string{class: pause, "": "vllm/vllm-openai"} {
		if output, err := create(class, image, ""); err != nil {
			t.Errorf("a pod of class %q and image %s: %v\n%s", class, image, err, output)
		}
	}
}

type (
	ask   = authorization.ResourceAttributes
	right struct {
		ask  ask
		want bool
	}
)

// expectRights asks for each whether forewarm's account has it.
func expectRights(t *testing.T, c *apiservertest.Cluster, rights []right) {
	t.Helper()
	for _, q := range rights {
		if got := may(t, c, account, q.ask); got != q.want {
			t.Errorf("the account may %+v: %v", q.ask, got)
		}
	}
}

func lease(verb, namespace, name string) authorization.ResourceAttributes {
	return authorization.ResourceAttributes{
		Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace, Name: name,
	}
}
