package fleets

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/resource"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// Pod is what is kept of a pod that requests an extended resource and has not ended.
type Pod struct {
	Namespace, Name, UID string
	// Node is empty while the pod waits for one.
	Node     string
	Labels   labels.Set
	Requests Amounts
	Priority int32
	// Grace is how long the pod may take to end, after it was asked to.
	Grace time.Duration
	// Controller is the kind of the object that controls the pod; empty if there is none.
	Controller string
	// Held: a scheduling gate keeps the pod from starting, for example because Kueue has not admitted it.
	Held bool
}

// maxLabels limits the memory for a pod's labels, in bytes. Pods with more are kept without labels.
const maxLabels = 16 << 10

// newPod returns what is kept of a pod; nil if it requests no extended resource.
func newPod(full *corev1.Pod) *Pod {
	requests := extended(resource.PodRequests(full, resource.PodResourcesOptions{}))
	if len(requests) == 0 {
		return nil
	}
	p := &Pod{
		Namespace: full.Namespace, Name: full.Name, UID: string(full.UID), Node: full.Spec.NodeName,
		Labels: full.Labels, Requests: requests, Held: len(full.Spec.SchedulingGates) > 0,
	}
	if informer.SizeOf(full.Labels) > maxLabels {
		p.Labels = nil
	}
	if full.Spec.Priority != nil {
		p.Priority = *full.Spec.Priority
	}
	if seconds := full.Spec.TerminationGracePeriodSeconds; seconds != nil {
		p.Grace = time.Duration(*seconds) * time.Second
	}
	if controller := metav1.GetControllerOfNoCopy(full); controller != nil {
		p.Controller = controller.Kind
	}
	return p
}

// Amounts are amounts of extended resources.
type Amounts map[corev1.ResourceName]float64

// extended returns the extended resources of a list, which have a slash in their names.
func extended(all corev1.ResourceList) Amounts {
	out := Amounts{}
	for name, amount := range all {
		if strings.Contains(string(name), "/") && amount.Sign() > 0 {
			out[name] = amount.AsApproximateFloat64()
		}
	}
	return out
}

// queueSpec is the part of a ClusterQueue that is read.
type queueSpec struct {
	ResourceGroups []resourceGroup `json:"resourceGroups"`
}

type resourceGroup struct {
	Flavors []flavor `json:"flavors"`
}

type flavor struct {
	Resources []flavorQuota `json:"resources"`
}

type flavorQuota struct {
	Name         corev1.ResourceName `json:"name"`
	NominalQuota any                 `json:"nominalQuota"`
}

// newQueue sums the nominal quotas of a ClusterQueue over its flavors.
func newQueue(object *unstructured.Unstructured) *Queue {
	var read queueSpec
	q := &Queue{Name: object.GetName(), Quota: Amounts{}}
	spec, found, err := unstructured.NestedMap(object.Object, "spec")
	if err != nil || !found || runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &read) != nil {
		return q
	}
	for _, g := range read.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				if quota, err := parse.Quantity(fmt.Sprint(r.NominalQuota)); err == nil {
					q.Quota[r.Name] += quota.AsApproximateFloat64()
				}
			}
		}
	}
	return q
}
