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

// pod has the fields that are kept of a pod in a watched namespace.
type pod struct {
	leadtime.Pod

	placed           bool
	terminating      bool   // Placed and deleted, but it has not ended yet.
	controller, name string // Kind and name of the controller.
	deployment       string // Name of the Deployment, if the pod has one.
	labels           labels.Set
}

// maxLabels limits the memory for a pod's labels, in bytes. A pod of a real workload needs less. Without this limit, a user could make
// Forewarm keep any number of labels.
const maxLabels = 16 << 10

// newPod reads a pod. It returns nil for a pod without a controller, because no workload scales it, and for a pod with too many labels.
func newPod(full *corev1.Pod) *pod {
	controller := metav1.GetControllerOfNoCopy(full)
	if controller == nil || informer.SizeOf(full.Labels) > maxLabels {
		return nil
	}
	p := &pod{
		Pod: readPod(full), placed: full.Spec.NodeName != "", controller: controller.Kind, name: controller.Name,
		labels: full.Labels,
	}
	p.terminating = p.placed && full.DeletionTimestamp != nil && full.Status.Phase != corev1.PodSucceeded &&
		full.Status.Phase != corev1.PodFailed
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
		// An init container ends with success. If it was restarted, it has failed.
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

// podState has when a living pod was created, whether it has a node, and whether and since when it is ready. A nominated node (status.nominatedNodeName)
// does not count, because another pod may still get it.
type podState struct {
	created, readyChanged time.Time
	placed, ready         bool
}

func exitedWithError(ended *corev1.ContainerStateTerminated) bool {
	return ended != nil && ended.ExitCode != 0
}

// isFailing reports whether a container waits because of an error. The kubelet sets the reason (kubernetes pkg/kubelet/images,
// kuberuntime). Without an error, the reason is PodInitializing or ContainerCreating.
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

// earliest returns the earlier of two times. If the first is zero, it returns the second.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// isOwnedBy reports whether a pod that matches a workload's selector belongs to the workload. For the kinds of apps/v1, the controller is
// known. It is the StatefulSet or ReplicaSet itself. For a Deployment, it is a ReplicaSet whose name consists of the Deployment's name and
// the pod's hash.
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
