package apiservertest

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Kubelet stands in for a controller, a scheduler and a kubelet of the pods in the namespace default.
type Kubelet struct {
	tb     testing.TB
	client kubernetes.Interface
}

// Kubelet returns one that deletes all pods when the test ends.
func (c *Cluster) Kubelet(tb testing.TB) Kubelet {
	tb.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		now := int64(0)
		err := client.CoreV1().Pods("default").DeleteCollection(context.WithoutCancel(tb.Context()),
			metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
		if err != nil {
			tb.Error(err)
		}
	})
	return Kubelet{tb, client}
}

// Create creates a pod with labels. kind and controller name its controller, with any UID; an empty kind means none.
func (k Kubelet) Create(name string, labels map[string]string, kind, controller string) *corev1.Pod {
	k.tb.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if yes := true; kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: kind, Name: controller, UID: types.UID(controller), Controller: &yes,
		}}
	}
	p, err := k.client.CoreV1().Pods("default").Create(k.tb.Context(), p, metav1.CreateOptions{})
	if err != nil {
		k.tb.Fatal(err)
	}
	return p
}

// Bind assigns a pod to a node, as a scheduler does; the node need not exist.
func (k Kubelet) Bind(p *corev1.Pod, node string) {
	k.tb.Helper()
	err := k.client.CoreV1().Pods("default").Bind(k.tb.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		k.tb.Fatal(err)
	}
}

// End deletes a pod with its grace period.
func (k Kubelet) End(p *corev1.Pod) {
	k.tb.Helper()
	if err := k.client.CoreV1().Pods("default").Delete(k.tb.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
		k.tb.Fatal(err)
	}
}

// Delete deletes a pod at once.
func (k Kubelet) Delete(p *corev1.Pod) {
	k.tb.Helper()
	now := int64(0)
	err := k.client.CoreV1().
		Pods("default").
		Delete(k.tb.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		k.tb.Fatal(err)
	}
}

// Ready makes a pod ready a time after its creation, and returns that moment. The pod was scheduled at once.
func (k Kubelet) Ready(p *corev1.Pod, took time.Duration) time.Time {
	k.tb.Helper()
	created := p.CreationTimestamp.Time
	at := func(after time.Duration) metav1.Time { return metav1.NewTime(created.Add(after)) }
	taken := at(min(2*time.Second, took))
	p.Status.StartTime = &taken
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(min(time.Second, took))},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(took)},
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", Ready: true, State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: at(took / 2)},
		},
	}}
	if _, err := k.client.CoreV1().Pods("default").UpdateStatus(k.tb.Context(), p, metav1.UpdateOptions{}); err != nil {
		k.tb.Fatal(err)
	}
	return at(took).Time
}
