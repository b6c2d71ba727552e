package pools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// pendingTimeout is how long a placeholder pod, or a buffer, may be pending before there is a warning where the lead time
// of nodes is unknown.
const pendingTimeout = 10 * time.Minute

// minPendingTimeout is the least such time: a busy control plane takes seconds as well.
const minPendingTimeout = time.Minute

// pendingTimeoutOf returns how long a placeholder pod may be pending: twice as long as a node takes to start.
func pendingTimeoutOf(pool *v1alpha1.WarmPool) time.Duration {
	if node := nodeLead(pool); node > 0 {
		return max(2*node, minPendingTimeout)
	}
	return pendingTimeout
}

// nodeLead returns the lead time of a node by the pool's status; 0 where it is unknown.
func nodeLead(pool *v1alpha1.WarmPool) time.Duration {
	d, err := model.ParseDuration(pool.Status.NodeLeadTime)
	if err != nil {
		return 0
	}
	return time.Duration(d)
}

// warning returns what blocks the placeholder pods that are not available; empty while a node may just be starting.
func (b *PlaceholderPods) warning(
	ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment, count Count,
) (string, error) {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return rejectedWarning(c.Message), nil
		}
	}
	missing := count.Held - count.Ready
	if missing <= 0 {
		return "", nil
	}
	// A few pods are enough.
	pods, err := b.client.CoreV1().Pods(pool.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(d.Spec.Selector.MatchLabels).String(),
		FieldSelector: "status.phase=Pending", Limit: 50,
	})
	if err != nil {
		return "", listPodsError(pool, err)
	}
	for i := range pods.Items {
		if why := pendingReason(&pods.Items[i], b.now(), pendingTimeoutOf(pool)); why != "" {
			return fmt.Sprintf("%d of %d placeholder pods are not available: %s", missing, count.Held, why), nil
		}
	}
	return "", nil
}

// rejectedWarning returns advice on pods that the API server rejects.
func rejectedWarning(message string) string {
	advice := ""
	if isQuotaError(message) {
		advice = ": raise the quota or lower spec.max"
	}
	return "placeholder pods are rejected: " + clipLine(message) + advice
}

// pendingReason returns what a pod waits for longer than a timeout; empty for one that does not.
func pendingReason(pod *corev1.Pod, now time.Time, timeout time.Duration) string {
	c, from := corev1.PodCondition{Reason: corev1.PodReasonSchedulingGated}, pod.CreationTimestamp.Time
	if i := slices.IndexFunc(pod.Status.Conditions, isScheduled); i >= 0 {
		c = pod.Status.Conditions[i]
		from = c.LastTransitionTime.Time
	}
	if now.Sub(from) < timeout || isGated(pod) {
		return ""
	}
	since, gates := from.UTC().Format("15:04 MST"), pod.Spec.SchedulingGates
	switch {
	case len(gates) > 0:
		const gated = "%s waits behind the scheduling gate %s since %s: who set the gate opens it; check that its " +
			"controller runs, and that its queue exists and has quota left, or lower spec.max"
		return fmt.Sprintf(gated, pod.Name, gates[0].Name, since)
	case c.Reason == corev1.PodReasonSchedulingGated: // As it was created: nobody has changed it since.
		return fmt.Sprintf("no scheduler has considered %s since %s: check that the scheduler %s runs",
			pod.Name, since, pod.Spec.SchedulerName)
	case c.Status != corev1.ConditionTrue:
		return fmt.Sprintf(
			"%s is unschedulable since %s (%s): check that a node pool of this shape exists and is below its "+
				"limits, that its new nodes register, and that its autoscaler adds nodes for pods of this priority; "+
				"kubectl describe pod has the autoscaler's events", pod.Name, since, clipLine(c.Message))
	}
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			return strings.TrimSpace(fmt.Sprintf("%s is on a node since %s and does not start: %s %s",
				pod.Name, since, w.Reason, clipLine(w.Message)))
		}
	}
	return ""
}

func isScheduled(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }

// joinWarnings adds a warning, with its capacity type, where there is one.
func joinWarnings(all, capacity, remark string) string {
	if remark == "" {
		return all
	}
	if capacity != "" {
		remark = capacity + ": " + remark
	}
	if all == "" {
		return remark
	}
	return all + "; " + remark
}
