package writes_test

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

func TestFieldsThatNobodyKnowsAreNamed(t *testing.T) {
	known := map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "a"}, "signal": map[string]any{"query": "x"},
		"variants":    []any{map[string]any{"name": "spot"}},
		"formerNames": []any{"b"},
	}
	const managed = `{"f:metadata": {"f:labels": {"f:gone": {}}}, "f:spec": {".": {}, "f:targetRef": {"f:kind": {}}, "f:signal": {"f:query": {}},
		"f:formerNames": {"v:\"b\"": {}, "v:\"c\"": {}}, "f:variants": {".": {}, "k:{\"name\":\"spot\"}": {".": {}, "f:name": {}%s},
		"k:{\"name\":\"removed\"}": {"f:name": {}}}%s}, "f:status": {"f:state": {}}}`
	for name, c := range map[string]struct {
		add, managed, want string
	}{
		"nothing":                  {"", strings.NewReplacer("%s", "").Replace(managed), ""},
		"no managed fields":        {"", "", ""},
		"nonsense":                 {"", `{"f:spec": [1]}`, ""},
		"unknown":                  {"newest", "", "FieldsUnknown this version of Forewarm does not know spec.newest,"},
		"dropped":                  {"", strings.Replace(strings.Replace(managed, "%s", "", 1), "%s", `, "f:newest": {"f:deep": {}}`, 1), "FieldsDropped the object was written with spec.newest,"},
		"dropped within an item":   {"", strings.Replace(strings.Replace(managed, "%s", `, "f:newest": {}`, 1), "%s", "", 1), "FieldsDropped the object was written with spec.variants[].newest,"},
		"several, one of them had": {"newest", `{"f:spec": {"f:newest": {}, "f:a": {}, "f:b": {}, "f:c": {}, "f:d": {}, "f:e": {}, "f:f": {}}}`, "FieldsDropped the object was written with spec.a, spec.b, spec.c, spec.d and spec.e and 1 more,"},
	} {
		object := &unstructured.Unstructured{
			Object: map[string]any{"spec": map[string]any{}, "status": map[string]any{"unknown": "1"}},
		}
		object.SetAPIVersion("forewarm.dev/v1alpha1")
		spec, ok := object.Object["spec"].(map[string]any)
		if !ok {
			t.Fatal(object)
		}
		maps.Copy(spec, known)
		if c.add != "" {
			spec[c.add] = "1"
		}
		if c.managed != "" {
			object.SetManagedFields([]metav1.ManagedFieldsEntry{{
				APIVersion: "forewarm.dev/v1alpha1", FieldsV1: metav1.NewFieldsV1(c.managed),
			}})
		}
		got := ""
		if condition := writes.CheckSpec(object, &v1alpha1.Forecast{}); condition != nil {
			got = condition.Reason + " " + condition.Message
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
