package apiservertest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Refused creates n objects in a namespace of its own until the test ends, and returns their names. The API server refuses their
// statuses, in turn because there is no room left for one in etcd, by an admission policy, and by the schema.
func (c *Cluster) Refused(tb testing.TB, kind, namespace string, n int, spec map[string]any) []string {
	tb.Helper()
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		tb.Fatal(err)
	}
	plural := strings.ToLower(kind) + "s"
	objects := client.Resource(schema.GroupVersionResource{Group: "forewarm.dev", Version: "v1alpha1", Resource: plural}).
		Namespace(namespace)
	c.MustKubectl(
		tb,
		fmt.Sprintf(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q}}`, namespace),
		"apply",
		"-f",
		"-",
	)
	tb.Cleanup(func() {
		if err := objects.DeleteCollection(
			context.WithoutCancel(tb.Context()),
			metav1.DeleteOptions{},
			metav1.ListOptions{},
		); err != nil {
			tb.Error(err)
		}
	})
	var names []string
	room := 1_572_864 // The maximum that etcd accepts in one request.
	for i := range n {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "forewarm.dev/v1alpha1", "kind": kind, "spec": maps.Clone(spec),
		}}
		object.SetName(fmt.Sprintf("%s-%d", []string{"full", "policy", "schema"}[i%3], i))
		names = append(names, object.GetName())
		if i%3 == 0 {
			room = createFull(tb, objects, object, room)
		} else if _, err := objects.Create(tb.Context(), object, metav1.CreateOptions{}); err != nil {
			tb.Fatal(err)
		}
	}
	c.refuse(tb, plural, namespace)
	return names
}

// createFull creates an object that is as large as possible within a number of bytes, and returns its size.
func createFull(tb testing.TB, objects dynamic.ResourceInterface, object *unstructured.Unstructured, room int) int {
	tb.Helper()
	const step = 100
	for ; ; room -= step {
		fill(tb, object, room)
		_, err := objects.Create(tb.Context(), object, metav1.CreateOptions{})
		if err == nil {
			return room
		}
		if room < 1_400_000 || !strings.Contains(err.Error(), "too large") {
			tb.Fatal(err)
		}
	}
}

// fill adds labels, whose number is not limited, and an annotation, until an object has the given number of bytes.
func fill(tb testing.TB, object *unstructured.Unstructured, bytes int) {
	tb.Helper()
	const label = 320
	labels := map[string]string{}
	for i := range (bytes - 1000) / label {
		prefix := fmt.Sprintf("p%06d.", i) + strings.Repeat(strings.Repeat("a", 50)+".", 4) + "aa"
		labels[prefix+"/"+strings.Repeat("k", 40)] = strings.Repeat("v", 57)
	}
	object.SetLabels(labels)
	object.SetAnnotations(map[string]string{"pad": ""})
	text, err := json.Marshal(object.Object)
	if err != nil {
		tb.Fatal(err)
	}
	object.SetAnnotations(map[string]string{"pad": strings.Repeat("x", max(0, bytes-len(text)))})
}

// refuse makes the API server reject the statuses of objects with certain names, until the test ends.
func (c *Cluster) refuse(tb testing.TB, plural, namespace string) {
	tb.Helper()
	c.MustKubectl(tb, fmt.Sprintf(refusingPolicy, plural), "apply", "-f", "-")
	tb.Cleanup(func() {
		c.MustKubectl(tb, "", "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", "refused-"+plural)
	})
	crd := plural + ".forewarm.dev"
	c.MustKubectl(tb, "", "patch", "crd", crd, "--type=json", "-p", `[{"op": "add",
		"path": "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations",
		"value": [{"rule": "!self.metadata.name.startsWith('schema-')", "message": "this schema is older"}]}]`)
	tb.Cleanup(func() {
		c.MustKubectl(tb, "", "patch", "crd", crd, "--type=json", "-p",
			`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations"}]`)
	})
	for name, says := range map[string]string{"policy-1": "write the label team", "schema-2": "this schema is older"} {
		Eventually(tb, 30*time.Second, func() string {
			output, err := c.Kubectl(
				tb,
				"",
				"patch",
				plural,
				name,
				"-n",
				namespace,
				"--subresource=status",
				"--type=merge",
				"--dry-run=server",
				"-p",
				`{"status": {"conditions": []}}`,
			)
			if err == nil || !strings.Contains(output, says) {
				return name + " is not refused: " + output
			}
			return ""
		})
	}
}

const refusingPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: refused-%[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [forewarm.dev], apiVersions: ["*"], operations: [UPDATE], resources: ["%[1]s/status"]}]
  validations: [{expression: "!object.metadata.name.startsWith('policy-')", message: "write the label team", reason: Forbidden}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: refused-%[1]s}
spec: {policyName: refused-%[1]s, validationActions: [Deny]}
`
