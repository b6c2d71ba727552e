package workloads

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/pkg/leadtime"
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
