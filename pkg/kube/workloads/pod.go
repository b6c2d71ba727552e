package workloads

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// pod is what is kept of a pod of a watched namespace.
type pod struct {
	leadtime.Pod

	placed           bool
	controller, name string // The controller's kind and name.
	deployment       string // The name of its Deployment, if it has one.
	labels           labels.Set
}

// maxLabels is the memory in bytes of more labels than a pod of a workload has. They are kept, and nothing else bounds how many
// somebody writes.
const maxLabels = 16 << 10

// newPod reads a pod; nil for one without a controller, which nothing scales, and for one with too many labels.
func newPod(full *corev1.Pod) *pod {
	controller := metav1.GetControllerOfNoCopy(full)
	if controller == nil || informer.SizeOf(full.Labels) > maxLabels {
		return nil
	}
	p := &pod{
		Pod: readPod(full), placed: full.Spec.NodeName != "", controller: controller.Kind, name: controller.Name,
		labels: full.Labels,
	}
	name, hashed := strings.CutSuffix(p.name, "-"+full.Labels["pod-template-hash"])
	if hashed && p.controller == "ReplicaSet" {
		p.deployment = name
	}
	return p
}

// readPod reads the conditions of a pod and the states of its containers.
func readPod(full *corev1.Pod) leadtime.Pod {
	p := leadtime.Pod{
		UID: string(full.UID), Created: full.CreationTimestamp.Time,
		Ended: full.DeletionTimestamp != nil || full.Status.Phase == corev1.PodSucceeded ||
			full.Status.Phase == corev1.PodFailed,
	}
	if full.Status.StartTime != nil {
		p.Acknowledged = full.Status.StartTime.Time
	}
	for _, c := range full.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue:
			p.Scheduled = c.LastTransitionTime.Time
		case c.Type == corev1.PodReady:
			p.Ready, p.ReadyChanged = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	for _, c := range full.Status.InitContainerStatuses {
		// An init container ends with success. One that is restarted failed.
		p.Restarted = p.Restarted || c.RestartCount > 0 || exitedWithError(c.State.Terminated) ||
			exitedWithError(c.LastTerminationState.Terminated)
		p.Failing = p.Failing || isFailing(c.State.Waiting)
	}
	for _, c := range full.Status.ContainerStatuses {
		p.Restarted = p.Restarted || c.RestartCount > 0 || c.State.Terminated != nil ||
			c.LastTerminationState.Terminated != nil
		p.Failing = p.Failing || isFailing(c.State.Waiting)
		if running := c.State.Running; running != nil {
			p.Started = earliest(p.Started, running.StartedAt.Time)
		}
	}
	return p
}

// podState is when a living pod was created, whether it has a node, and whether it is ready. A nominated node (status.nominatedNodeName) does not count: another
// pod may still get it.
type podState struct {
	created       time.Time
	placed, ready bool
}

func exitedWithError(ended *corev1.ContainerStateTerminated) bool {
	return ended != nil && ended.ExitCode != 0
}

// isFailing reports whether a container waits because of an error. The reasons are the kubelet's (kubernetes
// pkg/kubelet/images, kuberuntime); without an error they are PodInitializing or ContainerCreating.
func isFailing(waiting *corev1.ContainerStateWaiting) bool {
	if waiting == nil {
		return false
	}
	switch waiting.Reason {
	case "", "PodInitializing", "ContainerCreating":
		return false
	}
	return true
}

// earliest returns the earlier of two times, of which the first may be zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// isOwnedBy reports whether a pod that a workload's selector matches belongs to the workload. For the kinds of apps/v1 the
// controller is known: the StatefulSet or ReplicaSet itself, or for a Deployment a ReplicaSet with its name and the pod's hash.
func isOwnedBy(workload leadtime.Workload, p *pod) bool {
	group, _, _ := strings.Cut(workload.APIVersion, "/")
	if group != "apps" {
		return true
	}
	switch workload.Kind {
	case "Deployment":
		return p.deployment == workload.Name
	case "StatefulSet", "ReplicaSet":
		return p.controller == workload.Kind && p.name == workload.Name
	}
	return true
}
