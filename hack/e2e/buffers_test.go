package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func capacityBuffers() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "autoscaling.x-k8s.io", Version: "v1beta1", Resource: "capacitybuffers"}
}

// installBuffers installs a CRD of CapacityBuffers with the schema of the real one.
func (s *stage) installBuffers(t *testing.T) {
	t.Helper()
	file := filepath.Join(s.Components.Root, "pkg", "kube", "pools", "testdata", "capacitybuffers.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.MustApply(t, string(text))
	if _, err := s.Kubectl(t.Context(), "", "wait", "--for=condition=Established",
		"crd/capacitybuffers.autoscaling.x-k8s.io"); err != nil {
		t.Fatal(err)
	}
}

// updateBuffer adds to a group what a CapacityBuffer requests, and writes its status.
func (a *autoscaler) updateBuffer(
	ctx context.Context, buffer *unstructured.Unstructured, of func(string) *groupNeed,
) error {
	name, _, err := unstructured.NestedString(buffer.Object, "spec", "podTemplateRef", "name")
	if err != nil {
		return err
	}
	template, err := a.client.CoreV1().PodTemplates(buffer.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	replicas, _, err := unstructured.NestedInt64(buffer.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	need := of(template.Template.Spec.NodeSelector[shape])
	need.buffer += int(replicas)
	reason := "FitsExistingCapacity"
	if len(need.nodes)-len(need.used) < need.waiting+need.buffer {
		reason = "RequiresNewCapacity"
	}
	before, _, err := unstructured.NestedMap(buffer.Object, "status")
	if err != nil {
		return err
	}
	since := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, why string) any {
		if old := conditionOf(before, kind); old["reason"] == why {
			return old
		}
		return map[string]any{
			"type": kind, "status": "True", "reason": why, "message": "", "lastTransitionTime": since,
		}
	}
	after := map[string]any{
		"podTemplateRef": map[string]any{
			"name": name,
		},
		"podTemplateGeneration": template.Generation,
		"replicas":              replicas,
		"conditions": []any{
			condition("ReadyForProvisioning", "Resolved"),
			condition("Provisioning", reason),
		},
	}
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	buffer.Object["status"] = after
	_, err = a.objects.Resource(capacityBuffers()).Namespace(buffer.GetNamespace()).
		UpdateStatus(ctx, buffer, metav1.UpdateOptions{})
	return err
}

// conditionOf returns a condition in a status; empty where there is none.
func conditionOf(status map[string]any, kind string) map[string]any {
	all, _, err := unstructured.NestedSlice(status, "conditions")
	if err != nil {
		return nil
	}
	for _, one := range all {
		if c, isMap := one.(map[string]any); isMap && c["type"] == kind {
			return c
		}
	}
	return nil
}
