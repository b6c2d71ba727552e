package writes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EachChange calls a function with the event of each condition that became good or bad between two statuses, or that is bad for a new reason.
// A condition is good if it is True, except those in badIfTrue, and neither if it is Unknown. A new condition that is good makes no event.
func EachChange(before, after []metav1.Condition, emit func(kind, reason, message string), badIfTrue ...string) {
	for _, now := range after {
		bad := metav1.ConditionFalse
		if slices.Contains(badIfTrue, now.Type) {
			bad = metav1.ConditionTrue
		}
		old := meta.FindStatusCondition(before, now.Type)
		switch {
		case now.Status == metav1.ConditionUnknown:
		case now.Status == bad && (old == nil || old.Status != bad || old.Reason != now.Reason):
			emit(corev1.EventTypeWarning, now.Reason, now.Message)
		case now.Status != bad && old != nil && old.Status == bad:
			emit(corev1.EventTypeNormal, now.Type, now.Message)
		}
	}
}
