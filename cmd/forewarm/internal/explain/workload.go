package explain

import (
	"context"
	"math"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// scale reads the scale sub-resource of the target, and returns its selector. Where it cannot be read the HPA's status
// stands in.
func (r *clusterReader) scale(
	ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler, s *autoscaler.Resolved,
) (selector string) {
	scale, err := r.readScale(ctx, h)
	if err != nil {
		n := h.Status.CurrentReplicas
		s.Scale = explain.Scale{Replicas: n, Existing: n, Pods: n, Ready: n}
		r.note("the scale of %s, the HPA's status is used instead: %s", s.Target, client.APIMessage(err))
		return ""
	}
	n := scale.Status.Replicas
	s.Scale = explain.Scale{Replicas: scale.Spec.Replicas, Existing: n, Pods: n, Ready: n}
	return scale.Status.Selector
}

func (r *clusterReader) readScale(
	ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler,
) (*autoscalingv1.Scale, error) {
	ref := h.Spec.ScaleTargetRef
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	object, err := r.objects.Resource(mapping.Resource).Namespace(h.Namespace).
		Get(ctx, ref.Name, metav1.GetOptions{}, "scale")
	if err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{}
	return scale, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, scale)
}

// pods counts the target's pods where a metric asks how many are ready.
func (r *clusterReader) pods(ctx context.Context, selector string, s *autoscaler.Resolved) {
	asked := false
	for i := range s.Spec.Metrics {
		asked = asked || s.Spec.Metrics[i].Type == hpa.Value
	}
	if !asked || selector == "" {
		return
	}
	pods, err := r.clients.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		r.note("the ready pods of %s, all pods are assumed to be ready: %s", s.Target, client.APIMessage(err))
		return
	}
	s.Scale.Pods, s.Scale.Ready = int32(min(len(pods.Items), math.MaxInt32)), 0
	for i := range pods.Items {
		if podReady(&pods.Items[i]) {
			s.Scale.Ready++
		}
	}
}

// podReady is what the HPA controller counts.
func podReady(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// warmPools is forewarm's own resource.
func warmPools() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("warmpools")
}

// readCovers finds the warm pools that stand ready for the Forecasts behind the metrics, and counts which of the target's pods
// waited for a node all the same.
func (r *clusterReader) readCovers(ctx context.Context, selector string, s *autoscaler.Resolved) {
	var covered []*explain.Forecast
	for i := range s.Metrics {
		if f := s.Metrics[i].Forecast; f != nil && f.LeadPool != "" {
			covered = append(covered, f)
		}
	}
	if len(covered) == 0 || !r.readPools(ctx, covered) || selector == "" {
		return
	}
	pods, err := r.clients.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		r.note("the pods of %s that waited for a node: %s", s.Target, client.APIMessage(err))
		return
	}
	for _, f := range covered {
		for i := range pods.Items {
			if f.Cover != nil {
				countPod(f.Cover, &pods.Items[i], metav1.NewTime(s.Now))
			}
		}
	}
}

// readPools reads which of them cover the Forecasts, and says whether any does.
func (r *clusterReader) readPools(ctx context.Context, forecasts []*explain.Forecast) (found bool) {
	list, err := r.objects.Resource(warmPools()).Namespace(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		if !apierrors.IsNotFound(err) {
			r.note("the warm pool that covers the Forecast: %s", client.APIMessage(err))
		}
		return false
	}
	for _, f := range forecasts {
		for i := range list.Items {
			for _, c := range coveredBy(&list.Items[i]) {
				if c.Forecast == f.Name {
					f.Cover = &explain.Cover{Pool: list.Items[i].GetName(), Since: c.Since.Time}
					found = true
				}
			}
		}
	}
	return found
}

// coveredBy is what a pool's status says of the Forecasts that it stands ready for; nothing where it says what is no cover.
func coveredBy(pool *unstructured.Unstructured) []v1alpha1.Cover {
	var status v1alpha1.WarmPoolStatus
	content, _, err := unstructured.NestedMap(pool.Object, "status")
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status) != nil {
		return nil
	}
	return status.Covered
}

// countPod takes in a pod of the target. What counts as waiting is what the lead times are measured by.
func countPod(c *explain.Cover, p *corev1.Pod, now metav1.Time) {
	if p.DeletionTimestamp != nil || !c.Counts(p.CreationTimestamp.Time, now.Time) {
		return
	}
	start := leadtime.Start{Created: p.CreationTimestamp.Time, Scheduled: now.Time}
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			start.Scheduled = condition.LastTransitionTime.Time
		}
	}
	c.Starts++
	if !start.Waited() {
		return
	}
	c.Waited++
	if p.Spec.NodeName == "" {
		c.Waiting++
	}
}
