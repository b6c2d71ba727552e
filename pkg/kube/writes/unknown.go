package writes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Conditions of an object.
const (
	// ConditionSpec is present, and False, while the object was written with fields that Forewarm or the cluster does not know.
	ConditionSpec = "SpecKnown"
)

// Reasons of the condition SpecKnown.
const (
	// ReasonFieldsDropped (False): the object was written with fields that it no longer has, because the CustomResourceDefinition in the
	// cluster is or was older than the object. The API server hides such a field, and deletes it with the next write to the object or to
	// its status.
	//
	// Fix: upgrade the CustomResourceDefinitions, and apply the object again. See docs/upgrades.md#roll-back.
	ReasonFieldsDropped = "FieldsDropped"
	// ReasonFieldsUnknown (False): the object has fields that this version of Forewarm does not know, and ignores.
	//
	// Fix: upgrade Forewarm, or remove the fields.
	ReasonFieldsUnknown = "FieldsUnknown"
)

// CheckSpec returns the condition of an object with fields in its spec that Forewarm or the cluster does not know; nil for others. The
// object must still have its managed fields, which name what the API server hides. typed is an empty object of its type.
func CheckSpec(object *unstructured.Unstructured, typed any) *metav1.Condition {
	if _, read := object.Object["spec"].(map[string]any); !read {
		return nil // The spec is too large: see informer.SpecProblem.
	}
	out := metav1.Condition{Type: ConditionSpec, Status: metav1.ConditionFalse}
	if lost := lostFields(object); len(lost) > 0 {
		out.Reason, out.Message = ReasonFieldsDropped, fmt.Sprintf(
			"the object was written with %s, which the API server dropped because the CustomResourceDefinition in the cluster is or "+
				"was too old: upgrade the chart, and apply the object again",
			FirstOf(lost),
		)
		return &out
	}
	if unknown := unknownFields(object, typed); len(unknown) > 0 {
		out.Reason, out.Message = ReasonFieldsUnknown, fmt.Sprintf(
			"this version of Forewarm does not know %s, and ignores it: upgrade Forewarm, or remove it from the object",
			FirstOf(unknown))
		return &out
	}
	return nil
}

// FirstOf lists the first five names, and says how many more there are.
func FirstOf(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", humanize.List(names[:most]), more)
	}
	return humanize.List(names)
}

// unknownFields returns the fields in an object's spec that the Go type does not have.
func unknownFields(object *unstructured.Unstructured, typed any) []string {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true)
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return nil // Either all fields are known, or the spec does not fit the type at all, which is reported elsewhere.
	}
	var out []string
	for _, one := range strict.Errors() {
		if field, found := strings.CutPrefix(one.Error(), `unknown field "spec.`); found {
			out = append(out, "spec."+strings.TrimSuffix(field, `"`))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lostFields returns the fields of the spec that someone has set, according to the managed fields, but that the object does not have.
func lostFields(object *unstructured.Unstructured) []string {
	var out []string
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.APIVersion != object.GetAPIVersion() {
			continue
		}
		var fields struct {
			Spec managed `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil {
			out = append(out, fields.Spec.lost("spec", object.Object["spec"])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// managed is a set of fields in the format of managed fields: f:name is a field, and k:{…} is the list item with these keys.
type managed map[string]managed

// lost returns the fields in the set that a value does not have.
func (m managed) lost(path string, value any) []string {
	var out []string
	for key, inner := range m {
		kind, name, _ := strings.Cut(key, ":")
		switch value := value.(type) {
		case map[string]any:
			if kind != "f" {
				continue
			}
			if child, ok := value[name]; ok {
				out = append(out, inner.lost(path+"."+name, child)...)
			} else {
				out = append(out, path+"."+name)
			}
		case []any:
			if kind == "k" {
				out = append(out, inner.lost(path+"[]", itemOf(value, name))...)
			}
		}
	}
	return out
}

// itemOf returns the list item that has the given keys (in JSON), or nil if there is none.
func itemOf(list []any, keys string) any {
	var want map[string]any
	if json.Unmarshal([]byte(keys), &want) != nil {
		return nil
	}
	for _, one := range list {
		item, ok := one.(map[string]any)
		if ok && hasAll(item, want) {
			return one
		}
	}
	return nil
}

func hasAll(item, want map[string]any) bool {
	for key, value := range want {
		if fmt.Sprint(item[key]) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}
