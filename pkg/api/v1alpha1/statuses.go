package v1alpha1

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxText is the maximum length of a text in a status, in bytes. The API allows 32 KiB for a condition's message,
// which is more than people read.
const maxText = 2048

// maxEvent is the maximum length of an event's message, in bytes. The API refuses messages of more than 1 KiB.
const maxEvent = 1000

// Clip shortens a text of a status to a length that people read.
func Clip(text string) string { return clip(text, maxText) }

// ClipEvent shortens the message of an event to a length that the API accepts.
func ClipEvent(text string) string { return clip(text, maxEvent) }

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// AddCondition adds a condition to a new status. If the previous conditions contain one of this type with the same
// status, it keeps its transition time. Otherwise the transition time is the given time.
func AddCondition(to *[]metav1.Condition, one metav1.Condition, before []metav1.Condition, at time.Time) {
	if old := meta.FindStatusCondition(before, one.Type); old != nil {
		*to = append(*to, *old)
	}
	one.Message = Clip(one.Message)
	one.LastTransitionTime = metav1.NewTime(at.Truncate(time.Second))
	meta.SetStatusCondition(to, one)
}

// SameCondition reports whether two conditions have the same type, status and reason. Messages and times can differ.
func SameCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
}

// ReadStatus reads the status of an object into an empty one. A status that does not fit its type is ignored, so that
// it is replaced.
func ReadStatus[T any](object *unstructured.Unstructured, status *T) {
	content, found, err := unstructured.NestedMap(object.Object, "status")
	if err != nil || !found {
		return
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, status); err != nil {
		*status = *new(T)
	}
}
