package warmpools

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// news is something to tell.
type news struct {
	warning         bool
	reason, message string
}

// changes are the conditions that have changed sides, or fail for another reason. Ready is left out: it follows from the
// others, and from the plan, which changes many times a day.
func changes(p *Pool, after *v1alpha1.WarmPoolStatus) []news {
	var out []news
	for _, c := range after.Conditions {
		if c.Type == ConditionReady && after.State != stateInvalid && after.State != stateReleasing {
			continue
		}
		before := meta.FindStatusCondition(p.Status.Conditions, c.Type)
		switch good := c.Status == metav1.ConditionTrue; {
		case good && before != nil && before.Status == metav1.ConditionFalse:
			out = append(out, news{reason: c.Type, message: c.Message})
		case !good && (before == nil || before.Status != c.Status || before.Reason != c.Reason):
			out = append(out, news{warning: true, reason: c.Reason, message: c.Message})
		}
	}
	return out
}

// tell makes an event about a pool.
func (c *Controller) tell(p *Pool, n news) {
	if c.events == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if n.warning {
		kind = corev1.EventTypeWarning
	}
	c.events.Event(p.WarmPool, kind, n.reason, v1alpha1.ClipEvent(n.message))
}
