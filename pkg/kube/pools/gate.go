package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// gate is the scheduling gate of a new placeholder pod. The Deployment creates a pod again as soon as a real one has
// preempted it, when the members' new replicas may have made it needless. Without a gate the cluster's autoscaler would
// add a node for it before the next plan.
const gate = v1alpha1.GroupName + "/plan"

// settleTime is how old a pod is at least before its gate is opened: by then the plan has counted the replicas that have
// preempted its predecessor. Creation times are whole seconds.
const settleTime = 3 * time.Second

// openGate removes the gate of a pod, and leaves those of others.
const openGate = `{"spec": {"schedulingGates": [{"$patch": "delete", "name": "` + gate + `"}]}}`

// mayOpen reports whether Forewarm may open gates. An installation whose rights are older than gates may not: there placeholder pods
// have none, since nobody would ever schedule them.
func (b *PlaceholderPods) mayOpen(ctx context.Context, namespace string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "patch", Resource: "pods"},
	}}
	answer, err := b.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if apierrors.IsForbidden(err) { // Only where the cluster's own roles were changed.
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask whether pods in %s may be patched: %w", namespace, err)
	}
	return answer.Status.Allowed, nil
}

// open removes the gates of as many placeholder pods as the Deployments ask for, after they were applied: of those that
// were asked for before a plan shrank, some are still there.
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
	wanted := 0
	if d.Spec.Replicas != nil {
		wanted = int(*d.Spec.Replicas)
	}
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
			problems = append(
				problems,
				fmt.Errorf("open the gate of the placeholder %s/%s: %w", pool.Namespace, name, err),
			)
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
