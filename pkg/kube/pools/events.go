package pools

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// event is one event about a pool.
type event struct {
	warning         bool
	reason, message string
}

// changedConditions returns an event for each condition that changed its status, or is False for another reason.
// Ready is left out: it follows from the others and from the plan, which changes many times a day.
func changedConditions(p *Pool, after *v1alpha1.WarmPoolStatus) []event {
	var out []event
	for _, c := range after.Conditions {
		if c.Type == v1alpha1.PoolConditionReady && after.State != v1alpha1.PoolReasonInvalid &&
			after.State != v1alpha1.PoolReasonReleasing {
			continue
		}
		before := meta.FindStatusCondition(p.Status.Conditions, c.Type)
		switch good := c.Status == metav1.ConditionTrue; {
		case good && before != nil && before.Status == metav1.ConditionFalse:
			out = append(out, event{reason: c.Type, message: c.Message})
		case !good && (before == nil || before.Status != c.Status || before.Reason != c.Reason):
			out = append(out, event{warning: true, reason: c.Reason, message: c.Message})
		}
	}
	return out
}

// emitEvent emits an event about a pool.
func (c *Controller) emitEvent(p *Pool, n event) {
	if c.events == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if n.warning {
		kind = corev1.EventTypeWarning
	}
	c.events.Event(p.WarmPool, kind, n.reason, v1alpha1.ClipEvent(n.message))
}
