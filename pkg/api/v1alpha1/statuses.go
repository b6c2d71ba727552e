package v1alpha1

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxText bounds a text, in bytes; the API allows 32 KiB for a condition's message, a reader less.
const maxText = 2048

// maxEvent bounds an event's message, in bytes: the API refuses one beyond 1 KiB.
const maxEvent = 1000

// Clip keeps a text of a status within what a reader bears.
func Clip(text string) string { return clip(text, maxText) }

// ClipEvent keeps the message of an event within what the API takes.
func ClipEvent(text string) string { return clip(text, maxEvent) }

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// AddCondition adds a condition to those of a status in the making. It keeps the time of its last transition from the status
// before; where it is new or changed sides it did so at the given time.
func AddCondition(to *[]metav1.Condition, one metav1.Condition, before []metav1.Condition, at time.Time) {
	if old := meta.FindStatusCondition(before, one.Type); old != nil {
		*to = append(*to, *old)
	}
	one.Message = Clip(one.Message)
	one.LastTransitionTime = metav1.NewTime(at.Truncate(time.Second))
	meta.SetStatusCondition(to, one)
}

// SameCondition says whether a condition says the same, whatever its message and its times.
func SameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
}

// ReadStatus reads the status that an object has into an empty one. A status that does not fit its type counts as none, and
// is replaced.
func ReadStatus[T any](object *unstructured.Unstructured, status *T) {
	content, found, err := unstructured.NestedMap(object.Object, "status")
	if err != nil || !found {
		return
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, status); err != nil {
		*status = *new(T)
	}
}
