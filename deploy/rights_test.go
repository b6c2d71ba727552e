package deploy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/casetest"
)

func testRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	expectRights(t, c, "rights.yaml")
}

// testPeople binds the roles by hand: the controller that adds them to view and edit does not run here.
func testPeople(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "create", "rolebinding", "v", "-n", "inference", "--clusterrole=forewarm:view",
		"--user=viewer")
	c.MustKubectl(t, "", "create", "rolebinding", "e", "-n", "inference", "--clusterrole=forewarm:edit",
		"--user=editor")
	for _, q := range casetest.Read[struct {
		Who string
		right
	}](t, "people.yaml") {
		question := q.ResourceAttributes
		question.Namespace = "inference"
		if got := may(t, c, q.Who, question); got != q.May {
			t.Errorf("%s may %+v: %v", q.Who, question, got)
		}
		question.Namespace = "default"
		if may(t, c, q.Who, question) {
			t.Errorf("%s may do so in another namespace: %+v", q.Who, question)
		}
	}
}

// testWarmPools: what mode Enforce takes is given by a folder of its own, and no more.
func testWarmPools(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for range 2 {
		c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/warm-pools")
	}
	expectRights(t, c, "warm-pools-rights.yaml")
	table := c.MustKubectl(t, "", "get", "warmpools", "-n", "inference")
	if !strings.Contains(table, "BUDGET LEFT") || !strings.Contains(table, "Recommend") {
		t.Errorf("the table:\n%s", table)
	}
	expectPlaceholdersConfined(t, c)
	expectPlaceholdersIdle(t, c)
}

// testDemandEvents: their rights are given by a folder of its own, also to those who may write nothing else.
func testDemandEvents(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/demand-events")
	expectRights(t, c, "demand-events-rights.yaml")
	c.MustKubectl(
		t,
		"",
		"create",
		"rolebinding",
		"m",
		"-n",
		"inference",
		"--clusterrole=forewarm:demand-events-edit",
		"--user=marketing",
	)
	for resource, want := range map[string]bool{"demandevents": true, "forecasts": false} {
		question := authorization.ResourceAttributes{
			Namespace: "inference",
			Verb:      "create",
			Group:     "forewarm.dev",
			Resource:  resource,
		}
		if got := may(t, c, "marketing", question); got != want {
			t.Errorf("marketing may create %s: %v", resource, got)
		}
	}
}

// testFleets: their rights, and those to count GPUs, are given by a folder of its own.
func testFleets(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/fleets")
	expectRights(t, c, "fleets-rights.yaml")
}

// expectPlaceholdersConfined: no pod evades a quota that leaves out the class of placeholder pods.
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

// right is what an account may do, or may not.
type right struct {
	authorization.ResourceAttributes

	May bool
}

// expectRights asks for each right of a file whether forewarm's account has it.
func expectRights(t *testing.T, c *apiservertest.Cluster, file string) {
	t.Helper()
	for _, q := range casetest.Read[right](t, file) {
		if got := may(t, c, account, q.ResourceAttributes); got != q.May {
			t.Errorf("the account may %+v: %v", q.ResourceAttributes, got)
		}
	}
}
