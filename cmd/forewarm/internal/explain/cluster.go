package explain

import (
	"context"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// clusterReader reads what an explanation needs, with the user's own rights. What may not be read is noted, and not an error.
type clusterReader struct {
	clients   kubernetes.Interface
	objects   dynamic.Interface
	mapper    meta.RESTMapper
	namespace string
	unknown   []string
}

// fromCluster reads an HPA and all that it is about.
func (o *options) fromCluster(ctx context.Context, of autoscalerName) (*explain.Input, error) {
	config, namespace, err := o.Config(ctx, "explain")
	if err != nil {
		return nil, fmt.Errorf("%w; set one, or explain a file (--file hpa.yaml --value 180 --replicas 12)", err)
	}
	if of.namespace == "" {
		of.namespace = namespace
	}
	return readCluster(ctx, config, of)
}

// FromCluster explains an HPA of a cluster, for other commands.
func FromCluster(
	ctx context.Context, config *rest.Config, namespace, name string,
) (*explain.Explanation, error) {
	input, err := readCluster(ctx, config, autoscalerName{namespace: namespace, name: name})
	if err != nil {
		return nil, err
	}
	return explain.Explain(input)
}

func readCluster(ctx context.Context, config *rest.Config, of autoscalerName) (*explain.Input, error) {
	r := &clusterReader{namespace: of.namespace}
	var err error
	if r.clients, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if r.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	r.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(r.clients.Discovery()))
	return r.read(ctx, of)
}

func (r *clusterReader) read(ctx context.Context, of autoscalerName) (*explain.Input, error) {
	seen, err := r.readSettled(ctx, of)
	if err != nil {
		return nil, err
	}
	s := &seen.Resolved
	r.pods(ctx, seen.selector, s)
	for i := range s.Metrics {
		r.metric(ctx, s, i)
	}
	r.readCovers(ctx, seen.selector, s)
	s.OtherAutoscalers = r.otherAutoscalers(ctx, seen.hpa)
	s.Unknown = r.unknown
	return &s.Input, nil
}

// reading is an HPA and the scale of its target as they were read, one after the other.
type reading struct {
	autoscaler.Resolved

	hpa      *autoscalingv2.HorizontalPodAutoscaler
	selector string
}

// maxReads are how often an HPA and its target are read at most, pause the time between two.
const (
	maxReads     = 4
	pause = 250 * time.Millisecond
)

// readSettled reads an HPA and the scale of its target. A controller writes the scale first and its status a moment later: what
// is read in between tells of a change that the status does not know, and is read again. Where both differ for longer,
// somebody else has scaled.
func (r *clusterReader) readSettled(ctx context.Context, of autoscalerName) (*reading, error) {
	for look := 1; ; look++ {
		r.unknown = nil
		seen, err := r.readOnce(ctx, of)
		if err != nil || look == maxReads || seen.Scale.Replicas == seen.hpa.Status.DesiredReplicas {
			return seen, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (r *clusterReader) readOnce(ctx context.Context, of autoscalerName) (*reading, error) {
	h, err := r.autoscaler(ctx, of)
	if err != nil {
		if apierrors.IsNotFound(err) {
			err = cmdline.WithExitCode(cmdline.NotFound, err)
		}
		return nil, err
	}
	seen := &reading{hpa: h}
	if seen.Resolved, err = autoscaler.ResolveHPA(h); err != nil {
		return nil, fmt.Errorf("read HorizontalPodAutoscaler %s/%s: %w", h.Namespace, h.Name, err)
	}
	seen.Now = time.Now()
	r.owner(ctx, h, &seen.Resolved)
	seen.selector = r.scale(ctx, h, &seen.Resolved)
	return seen, nil
}

// note records what could not be read.
func (r *clusterReader) note(format string, args ...any) {
	r.unknown = append(r.unknown, fmt.Sprintf(format, args...))
}

// autoscaler reads the HPA, or the one that KEDA makes of a ScaledObject.
func (r *clusterReader) autoscaler(
	ctx context.Context, of autoscalerName,
) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	if of.kind != autoscaler.KindScaledObject {
		return r.hpa(ctx, of.name)
	}
	object, err := r.scaledObject(ctx, of.name)
	if err != nil {
		return nil, fmt.Errorf("read ScaledObject %s/%s: %w", r.namespace, of.name, err)
	}
	made, found, err := unstructured.NestedString(object.Object, "status", "hpaName")
	if err != nil || !found || made == "" {
		made = "keda-hpa-" + of.name
	}
	h, err := r.hpa(ctx, made)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf(
			"KEDA has created no HPA for ScaledObject %s/%s, or it is paused: check its conditions (%w)", r.namespace,
			of.name, err,
		)
	}
	return h, err
}

func (r *clusterReader) hpa(ctx context.Context, of string) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	h, err := r.clients.AutoscalingV2().HorizontalPodAutoscalers(r.namespace).Get(ctx, of, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read HorizontalPodAutoscaler %s/%s: %w", r.namespace, of, err)
	}
	return h, nil
}

// scaledObject reads one of KEDA's.
func (r *clusterReader) scaledObject(ctx context.Context, of string) (*unstructured.Unstructured, error) {
	return r.objects.Resource(autoscaler.ScaledObjects()).Namespace(r.namespace).Get(ctx, of, metav1.GetOptions{})
}

// owner finds the ScaledObject behind an HPA, and the Forecasts that its triggers name. KEDA calls the metric of trigger
// 2 s2-….
func (r *clusterReader) owner(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler, s *autoscaler.Resolved) {
	owner := autoscaler.OwningScaledObject(h)
	if owner == "" {
		return
	}
	s.Owner = owner
	object, err := r.scaledObject(ctx, owner)
	if err != nil {
		r.note("ScaledObject %s, and so the Forecasts of its triggers: %s", owner, client.APIMessage(err))
		return
	}
	forecasts := autoscaler.TriggerForecasts(object)
	for i := range s.Spec.Metrics {
		trigger := 0
		s.Sources[i].Forecast = ""
		if _, err := fmt.Sscanf(s.Spec.Metrics[i].Name, "s%d-", &trigger); err == nil && trigger >= 0 &&
			trigger < len(forecasts) {
			s.Sources[i].Forecast, s.Sources[i].Certain = forecasts[trigger], true
		}
	}
}

// otherAutoscalers are the other autoscalers of the same target.
func (r *clusterReader) otherAutoscalers(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler) []string {
	var out []string
	all, err := r.clients.AutoscalingV2().HorizontalPodAutoscalers(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		r.note("other HPAs of the same target: %s", client.APIMessage(err))
		return nil
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Name != h.Name && sameTarget(other.Spec.ScaleTargetRef, h.Spec.ScaleTargetRef) {
			out = append(out, "HorizontalPodAutoscaler/"+other.Name)
		}
	}
	slices.Sort(out)
	return out
}

// sameTarget target, whatever the version of its API.
func sameTarget(a, b autoscalingv2.CrossVersionObjectReference) bool {
	return schema.FromAPIVersionAndKind(a.APIVersion, a.Kind).GroupKind() ==
		schema.FromAPIVersionAndKind(b.APIVersion, b.Kind).GroupKind() && a.Name == b.Name
}
