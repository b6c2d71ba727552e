package workloads

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// see reads the conditions of a pod and the states of its containers.
func see(full *corev1.Pod) leadtime.Pod {
	p := leadtime.Pod{
		UID: string(full.UID), Created: full.CreationTimestamp.Time,
		Over: full.DeletionTimestamp != nil || full.Status.Phase == corev1.PodSucceeded ||
			full.Status.Phase == corev1.PodFailed,
	}
	if full.Status.StartTime != nil {
		p.Taken = full.Status.StartTime.Time
	}
	for _, c := range full.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue:
			p.Scheduled = c.LastTransitionTime.Time
		case c.Type == corev1.PodReady:
			p.Ready, p.Changed = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	for _, c := range full.Status.InitContainerStatuses {
		// One that has ended well is how an init container ends; one that is run again was at fault.
		p.Restarted = p.Restarted || c.RestartCount > 0 || failed(c.State.Terminated) ||
			failed(c.LastTerminationState.Terminated)
		p.Failing = p.Failing || failing(c.State.Waiting)
	}
	for _, c := range full.Status.ContainerStatuses {
		p.Restarted = p.Restarted || c.RestartCount > 0 || c.State.Terminated != nil ||
			c.LastTerminationState.Terminated != nil
		p.Failing = p.Failing || failing(c.State.Waiting)
		if running := c.State.Running; running != nil {
			p.Started = earlier(p.Started, running.StartedAt.Time)
		}
	}
	return p
}

// place says whether a pod has a node.
type place bool

const (
	onNode  place = true
	nowhere place = false
)

// placeOf is that of a pod which lives. Preempted room that is kept for it (status.nominatedNodeName) is none yet: somebody
// else may still take it.
func placeOf(full *corev1.Pod) place { return place(full.Spec.NodeName != "") }

func failed(ended *corev1.ContainerStateTerminated) bool { return ended != nil && ended.ExitCode != 0 }

// failing says whether a container waits for a fault to be mended. The reasons are the kubelet's (kubernetes
// pkg/kubelet/images, kuberuntime); a container that waits for its turn is PodInitializing or ContainerCreating.
func failing(waiting *corev1.ContainerStateWaiting) bool {
	if waiting == nil {
		return false
	}
	switch waiting.Reason {
	case "", "PodInitializing", "ContainerCreating":
		return false
	}
	return true
}

// earlier is the earlier of two times, of which the first may be zero.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// owns says whether a pod that a workload's selector matches is the workload's. It must have a controller at all: nothing
// scales a pod without one. Of the kinds of apps/v1 it is known which: a StatefulSet is itself the controller; between a
// Deployment and its pods stands a ReplicaSet that is called as the Deployment is, and the pod's hash.
func owns(workload leadtime.Workload, p *corev1.Pod) bool {
	controller := metav1.GetControllerOf(p)
	if controller == nil {
		return false
	}
	group, _, _ := strings.Cut(workload.APIVersion, "/")
	if group != "apps" {
		return true
	}
	switch workload.Kind {
	case "Deployment":
		hash := p.Labels["pod-template-hash"]
		return controller.Kind == "ReplicaSet" && controller.Name == workload.Name+"-"+hash
	case "StatefulSet", "ReplicaSet":
		return controller.Kind == workload.Kind && controller.Name == workload.Name
	}
	return true
}
