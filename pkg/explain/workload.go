package explain

import (
	"context"
	"math"
	"slices"
	"time"

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
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// readScale reads the scale sub-resource of the target. Where it cannot be read the HPA's status stands in.
func (r *reader) readScale(ctx context.Context, s *reading) {
	scale, err := r.scaleOf(ctx, s.hpa)
	if err != nil {
		n := s.hpa.Status.CurrentReplicas
		s.Scale = explain.Scale{Replicas: n, Existing: n, Pods: n, Ready: n}
		s.note("the scale of %s (the HPA's status is used instead): %s", s.Target, client.APIMessage(err))
		return
	}
	n := scale.Status.Replicas
	s.Scale = explain.Scale{Replicas: scale.Spec.Replicas, Existing: n, Pods: n, Ready: n}
	s.selector = scale.Status.Selector
}

func (r *reader) scaleOf(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv1.Scale, error) {
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

// countReady counts the target's ready pods if a metric's target is a Value, which is per ready pod.
func (r *reader) countReady(ctx context.Context, s *reading) {
	counts := slices.ContainsFunc(s.Spec.Metrics, func(m hpa.Metric) bool { return m.Type == hpa.Value })
	if !counts || s.selector == "" {
		return
	}
	pods, err := r.listPods(ctx, s)
	if err != nil {
		s.note("the ready pods of %s (all pods are assumed to be ready): %s", s.Target, client.APIMessage(err))
		return
	}
	s.Scale.Pods, s.Scale.Ready = int32(min(len(pods.Items), math.MaxInt32)), 0
	for i := range pods.Items {
		if podReady(&pods.Items[i]) {
			s.Scale.Ready++
		}
	}
}

func (r *reader) listPods(ctx context.Context, s *reading) (*corev1.PodList, error) {
	return r.clients.CoreV1().Pods(r.Namespace).List(ctx, metav1.ListOptions{LabelSelector: s.selector})
}

// podReady is what the HPA controller counts.
func podReady(p *corev1.Pod) bool {
	isReady := func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }
	return p.Status.Phase == corev1.PodRunning && slices.ContainsFunc(p.Status.Conditions, isReady)
}

// readCovers finds the warm pools that stand ready for the Forecasts behind the metrics, and counts which of the target's pods
// waited for a node all the same.
func (r *reader) readCovers(ctx context.Context, s *reading) {
	var covered []*explain.Forecast
	for i := range s.Metrics {
		if f := s.Metrics[i].Forecast; f != nil && f.LeadPool != "" {
			covered = append(covered, f)
		}
	}
	if len(covered) == 0 || !r.readPools(ctx, s, covered) || s.selector == "" {
		return
	}
	pods, err := r.listPods(ctx, s)
	if err != nil {
		s.note("the pods of %s that waited for a node: %s", s.Target, client.APIMessage(err))
		return
	}
	for _, f := range covered {
		for i := range pods.Items {
			if f.Cover != nil {
				countPod(f.Cover, &pods.Items[i], s.Now)
			}
		}
	}
}

// readPools reads which of them cover the Forecasts, and says whether any does.
func (r *reader) readPools(ctx context.Context, s *reading, forecasts []*explain.Forecast) (found bool) {
	list, err := r.objects.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).Namespace(r.Namespace).
		List(ctx, metav1.ListOptions{})
	if err != nil {
		if !apierrors.IsNotFound(err) {
			s.note("the warm pool that covers the Forecast: %s", client.APIMessage(err))
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
func countPod(c *explain.Cover, p *corev1.Pod, now time.Time) {
	if p.DeletionTimestamp != nil || !c.Counts(p.CreationTimestamp.Time, now) {
		return
	}
	start := leadtime.Start{Created: p.CreationTimestamp.Time, Scheduled: now}
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			start.Scheduled = condition.LastTransitionTime.Time
		}
	}
	c.Starts++
	if start.Waited() {
		c.Waited++
		if p.Spec.NodeName == "" {
			c.Waiting++
		}
	}
}
