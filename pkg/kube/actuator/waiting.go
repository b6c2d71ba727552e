package actuator

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// patience is how long a placeholder may wait before something is said of it: longer than a node takes to come.
const patience = 10 * time.Minute

// remark says what is in the way of the placeholders that are not there: nothing while it may just be a node on its way.
func (b *Balloon) remark(
	ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment, count Count,
) (string, error) {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return refused(c.Message), nil
		}
	}
	missing := count.Held - count.Ready
	if missing <= 0 {
		return "", nil
	}
	// A few tell as much as all.
	pods, err := b.client.CoreV1().Pods(pool.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(d.Spec.Selector.MatchLabels).String(),
		FieldSelector: "status.phase=Pending", Limit: 50,
	})
	if err != nil {
		return "", podsFault(pool, err)
	}
	for i := range pods.Items {
		if why := b.waiting(&pods.Items[i]); why != "" {
			return fmt.Sprintf("%d of %d placeholders are not there: %s", missing, count.Held, why), nil
		}
	}
	return "", nil
}

// refused is advice on pods that the API server does not take.
func refused(message string) string {
	advice := ""
	if quota(message) {
		advice = "; raise the quota or lower spec.max"
	}
	return "placeholders are refused: " + brief(message) + advice
}

// waiting says what a pod has waited for so long; empty for one that has not.
func (b *Balloon) waiting(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || b.now().Sub(c.LastTransitionTime.Time) < patience {
			continue
		}
		since := c.LastTransitionTime.UTC().Format("15:04 MST")
		if c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("no node takes %s since %s (%s); is there a node pool of this shape, and does its "+
				"autoscaler heed pods of this priority?", pod.Name, since, brief(c.Message))
		}
		for _, s := range pod.Status.ContainerStatuses {
			if w := s.State.Waiting; w != nil {
				return strings.TrimSpace(fmt.Sprintf("%s has a node since %s and does not start: %s %s",
					pod.Name, since, w.Reason, brief(w.Message)))
			}
		}
	}
	return ""
}

// join adds a remark, with the capacity type that it is about, where there is one.
func join(all, capacity, remark string) string {
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
