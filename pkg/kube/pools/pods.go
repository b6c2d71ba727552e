package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/pager"
	"k8s.io/utils/ptr"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// listPage limits the objects on a page of a list, because tenants can make the objects large.
const listPage = 50

// eachItem calls do for each object of a list. Only one page is in memory at a time.
func eachItem(
	ctx context.Context,
	list func(metav1.ListOptions) (runtime.Object, error),
	options metav1.ListOptions,
	do func(runtime.Object),
) error {
	pages := pager.New(pager.SimplePageFunc(list))
	pages.PageSize, pages.PageBufferSize, pages.FullListIfExpired = listPage, 0, false
	return pages.EachListItem(ctx, options, func(object runtime.Object) error { //nolint:wrapcheck // The caller does.
		do(object)
		return nil
	})
}

// eachPod calls do for each pod of the pool's namespace that matches a selector.
func eachPod(
	ctx context.Context, pods corev1client.PodsGetter, pool *v1alpha1.WarmPool, selector string, do func(*corev1.Pod),
) error {
	list := func(o metav1.ListOptions) (runtime.Object, error) { return pods.Pods(pool.Namespace).List(ctx, o) }
	err := eachItem(ctx, list, metav1.ListOptions{LabelSelector: selector}, func(object runtime.Object) {
		if pod, is := object.(*corev1.Pod); is {
			do(pod)
		}
	})
	if err != nil {
		return listPodsError(pool, err)
	}
	return nil
}

// gate is the scheduling gate of a new placeholder pod. When a real pod preempts a placeholder pod, the Deployment creates a new one
// immediately. By then, the members' new replicas may have made the new pod unnecessary. Without a gate, the cluster's autoscaler would add
// a node for it before the next plan.
const gate = v1alpha1.GroupName + "/plan"

// settleTime is the minimum age of a pod before its gate is removed. By then, the plan has counted the replicas that preempted its
// predecessor. Creation times are in whole seconds.
const settleTime = 3 * time.Second

// openGate is a patch that removes Forewarm's gate from a pod. Gates of other owners stay.
const openGate = `{"spec": {"schedulingGates": [{"$patch": "delete", "name": "` + gate + `"}]}}`

// mayOpen reports whether Forewarm has permission to remove gates. If Forewarm's RBAC rules are from a version without gates, it has not.
// Then placeholder pods get no gate, because no component would ever remove it.
func (b *PlaceholderPods) mayOpen(ctx context.Context, namespace string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "patch", Resource: "pods"},
	}}
	answer, err := b.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if apierrors.IsForbidden(err) { // This happens only if someone changed the cluster's default roles.
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check whether Forewarm is allowed to patch pods in %s: %w", namespace, err)
	}
	return answer.Status.Allowed, nil
}

// open removes the gates of as many placeholder pods as the Deployments request. It runs after the Deployments are applied, because pods
// that were requested before a plan shrank may still exist.
func (b *PlaceholderPods) open(ctx context.Context, pool *v1alpha1.WarmPool, found objects) error {
	for _, capacity := range capacityTypes(pool) {
		d, err := decode[appsv1.Deployment](found[nameFor(pool, capacity.Name)].Object)
		if err != nil {
			return err
		}
		if err = b.openPods(ctx, pool, d); err != nil {
			return err
		}
	}
	return nil
}

func (b *PlaceholderPods) openPods(ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment) error {
	wanted := int(ptr.Deref(d.Spec.Replicas, 0))
	if int(d.Status.AvailableReplicas) >= wanted {
		return nil
	}
	var gated []string
	selector := labels.SelectorFromSet(d.Spec.Selector.MatchLabels).String()
	err := eachPod(ctx, b.client.CoreV1(), pool, selector, func(pod *corev1.Pod) {
		switch {
		case pod.DeletionTimestamp != nil:
		case !isGated(pod):
			wanted--
		case b.now().Sub(pod.CreationTimestamp.Time) >= settleTime:
			gated = append(gated, pod.Name)
		}
	})
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range gated[:min(len(gated), max(wanted, 0))] {
		_, err = b.client.CoreV1().Pods(pool.Namespace).Patch(ctx, name, types.StrategicMergePatchType,
			[]byte(openGate), metav1.PatchOptions{FieldManager: FieldManager})
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems,
				fmt.Errorf("open the gate of the placeholder %s/%s: %w", pool.Namespace, name, err))
			if writes.Unavailable(err) {
				break
			}
		}
	}
	return errors.Join(problems...)
}

func isGated(pod *corev1.Pod) bool {
	return slices.Contains(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
}

const (
	// pendingTimeout is how long a placeholder pod or a buffer may be pending before there is a warning, if the lead time of nodes is unknown.
	pendingTimeout = 10 * time.Minute
	// minPendingTimeout is the minimum timeout. Even a busy control plane takes some seconds.
	minPendingTimeout = time.Minute
)

// pendingTimeoutOf returns how long a placeholder pod may be pending: twice as long as a node takes to start.
func pendingTimeoutOf(pool *v1alpha1.WarmPool) time.Duration {
	if node := nodeLead(pool); node > 0 {
		return max(2*node, minPendingTimeout)
	}
	return pendingTimeout
}

// nodeLead returns the lead time of a node according to the pool's status, or 0 if it is unknown.
func nodeLead(pool *v1alpha1.WarmPool) time.Duration {
	d, err := model.ParseDuration(pool.Status.NodeLeadTime)
	if err != nil {
		return 0
	}
	return time.Duration(d)
}

// warning says what blocks the placeholder pods that are not available. It is empty while a node may simply be starting.
func (b *PlaceholderPods) warning(
	ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment, count Count,
) (string, error) {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			text := "placeholder pods are rejected: " + clipLine(c.Message)
			if isQuotaError(c.Message) {
				text += ": raise the quota, or lower spec.max"
			}
			return text, nil
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

// pendingReason says what a pod has been waiting for, if it has waited longer than a timeout; otherwise it is empty.
func pendingReason(pod *corev1.Pod, now time.Time, timeout time.Duration) string {
	c, from := corev1.PodCondition{Reason: corev1.PodReasonSchedulingGated}, pod.CreationTimestamp.Time
	for _, found := range pod.Status.Conditions {
		if found.Type == corev1.PodScheduled {
			c, from = found, found.LastTransitionTime.Time
		}
	}
	if now.Sub(from) < timeout || isGated(pod) {
		return ""
	}
	since, gates := from.UTC().Format("15:04 MST"), pod.Spec.SchedulingGates
	switch {
	case len(gates) > 0:
		const gated = "%s has been waiting behind the scheduling gate %s since %s, and only the controller that set " +
			"this gate can remove it: check that this controller runs, and that its queue exists and has quota left, " +
			"or lower spec.max"
		return fmt.Sprintf(gated, pod.Name, gates[0].Name, since)
	case c.Reason == corev1.PodReasonSchedulingGated: // No component has changed this condition since the pod was created.
		return fmt.Sprintf("no scheduler has considered %s since %s: check that the scheduler %s is running",
			pod.Name, since, pod.Spec.SchedulerName)
	case c.Status != corev1.ConditionTrue:
		return fmt.Sprintf(
			"%s has been unschedulable since %s (%s): check that a node pool of this shape exists and is below its "+
				"limits, that its new nodes register, and that its autoscaler adds nodes for pods of this priority; "+
				"kubectl describe pod shows the events of the autoscaler", pod.Name, since, clipLine(c.Message))
	}
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			return strings.TrimSpace(fmt.Sprintf("%s has been on a node since %s but does not start: %s %s",
				pod.Name, since, w.Reason, clipLine(w.Message)))
		}
	}
	return ""
}

// joinWarnings appends a warning with its capacity type, if there is a warning.
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
