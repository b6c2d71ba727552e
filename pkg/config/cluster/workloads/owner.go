package workloads

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/leadtime"
)

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
