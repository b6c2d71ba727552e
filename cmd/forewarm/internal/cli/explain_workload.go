package cli

import (
	"context"
	"math"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/hpa"
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
		r.note("the scale of %s, the HPA's status is used instead: %s", s.Target, cmdline.APIMessage(err))
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
		r.note("the ready pods of %s, all pods are assumed to be ready: %s", s.Target, cmdline.APIMessage(err))
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
