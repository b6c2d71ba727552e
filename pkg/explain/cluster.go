// Package explain answers why an autoscaler of a cluster, or of a file, wants its number of replicas. It reads the situation:
// the autoscaler, its metrics, the scale and the pods of its target, and the Forecasts behind its metrics. The arithmetic and
// the sentences are those of package [explain] in pkg/offline, which is pure.
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

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
	"github.com/forewarm/forewarm/pkg/run"
)

// Config says which autoscaler of a cluster to explain.
type Config struct {
	// Cluster is how the caller reaches the cluster, with the caller's own rights.
	Cluster *rest.Config
	// Namespace and Name of the autoscaler. With the Kind hpa.KindScaledObject it is the HPA that KEDA creates from
	// that ScaledObject; with any other Kind it is an HPA.
	Namespace, Kind, Name string
	// Lead is the time from "more replicas" to "ready" if no Forecast has it; 0 if unknown.
	Lead time.Duration
	// Now is the clock.
	Now func() time.Time
}

// FromCluster explains an autoscaler of a cluster. The explanation lists what the caller may not read. If there is no such
// autoscaler, the error is the API server's "not found".
func FromCluster(ctx context.Context, cfg Config) (*explain.Explanation, error) {
	r, err := newReader(cfg)
	if err != nil {
		return nil, err
	}
	seen, err := r.readSettled(ctx)
	if err != nil {
		return nil, err
	}
	r.countReady(ctx, seen)
	for i := range seen.Metrics {
		r.readMetric(ctx, seen, i)
	}
	r.readCovers(ctx, seen)
	r.findOthers(ctx, seen)
	seen.Lead = cfg.Lead
	return explain.Explain(&seen.Input)
}

// reader reads a cluster.
type reader struct {
	Config

	clients kubernetes.Interface
	objects dynamic.Interface
	mapper  meta.RESTMapper
}

func newReader(cfg Config) (*reader, error) {
	r := &reader{Config: cfg}
	var err error
	if r.clients, err = kubernetes.NewForConfig(cfg.Cluster); err != nil {
		return nil, err
	}
	if r.objects, err = dynamic.NewForConfig(cfg.Cluster); err != nil {
		return nil, err
	}
	r.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(r.clients.Discovery()))
	return r, nil
}

// reading is what was read of an HPA, one object after the other. What may not be read is noted, and not an error.
type reading struct {
	explain.Input

	hpa *autoscalingv2.HorizontalPodAutoscaler
	// selector of the target's pods; empty if it could not be read.
	selector string
}

// note records what could not be read.
func (s *reading) note(format string, args ...any) {
	s.Unknown = append(s.Unknown, fmt.Sprintf(format, args...))
}

// maxReads are how often an HPA and its target are read at most, pause the time between two.
const (
	maxReads = 4
	pause    = 250 * time.Millisecond
)

// readSettled reads an HPA and the scale of its target. A controller writes the scale first and its status a moment later: what
// is read in between tells of a change that the status does not know, and is read again. Where both differ for longer,
// somebody else has scaled.
func (r *reader) readSettled(ctx context.Context) (*reading, error) {
	var clock run.WallClock
	for look := 1; ; look++ {
		seen, err := r.readOnce(ctx)
		if err != nil || look == maxReads || seen.Scale.Replicas == seen.hpa.Status.DesiredReplicas {
			return seen, err
		}
		if err = clock.WaitUntil(ctx, clock.Now().Add(pause)); err != nil {
			return nil, err
		}
	}
}

func (r *reader) readOnce(ctx context.Context) (*reading, error) {
	h, err := r.readAutoscaler(ctx)
	if err != nil {
		return nil, err
	}
	seen := &reading{hpa: h}
	if seen.Input, err = explain.FromAutoscaler(autoscaler.FromHPA(h)); err != nil {
		return nil, fmt.Errorf("read HorizontalPodAutoscaler %s/%s: %w", h.Namespace, h.Name, err)
	}
	seen.Now = r.Now()
	r.readOwner(ctx, seen)
	r.readScale(ctx, seen)
	return seen, nil
}

// readAutoscaler reads the HPA, or the one that KEDA makes of a ScaledObject.
func (r *reader) readAutoscaler(ctx context.Context) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	if r.Kind != hpa.KindScaledObject {
		return r.readHPA(ctx, r.Name)
	}
	object, err := r.readScaledObject(ctx, r.Name)
	if err != nil {
		return nil, fmt.Errorf("read ScaledObject %s/%s: %w", r.Namespace, r.Name, err)
	}
	made, found, err := unstructured.NestedString(object.Object, "status", "hpaName")
	if err != nil || !found || made == "" {
		made = "keda-hpa-" + r.Name
	}
	h, err := r.readHPA(ctx, made)
	if apierrors.IsNotFound(err) {
		const none = "KEDA has created no HPA for ScaledObject %s/%s, or it is paused: check its conditions (%w)"
		return nil, fmt.Errorf(none, r.Namespace, r.Name, err)
	}
	return h, err
}

func (r *reader) readHPA(ctx context.Context, of string) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	h, err := r.clients.AutoscalingV2().HorizontalPodAutoscalers(r.Namespace).Get(ctx, of, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read HorizontalPodAutoscaler %s/%s: %w", r.Namespace, of, err)
	}
	return h, nil
}

func (r *reader) readScaledObject(ctx context.Context, of string) (*unstructured.Unstructured, error) {
	return r.objects.Resource(autoscaler.ScaledObjects()).Namespace(r.Namespace).Get(ctx, of, metav1.GetOptions{})
}

// readOwner finds the ScaledObject of an HPA, and its triggers' Forecasts: KEDA calls the metric of trigger 2 s2-….
func (r *reader) readOwner(ctx context.Context, s *reading) {
	if s.Owner == "" {
		return
	}
	object, err := r.readScaledObject(ctx, s.Owner)
	if err != nil {
		s.note("ScaledObject %s, and therefore the Forecasts of its triggers: %s", s.Owner, client.APIMessage(err))
		return
	}
	var triggers []hpa.AutoscalerMetric
	if owner, unread := autoscaler.FromScaledObject(object); unread == nil {
		triggers = owner.Metrics
	}
	for i := range s.Metrics {
		of, trigger := s.Metrics[i].Of, 0
		of.Forecast = ""
		if _, err := fmt.Sscanf(of.Name, "s%d-", &trigger); err == nil && trigger >= 0 && trigger < len(triggers) {
			from := &triggers[trigger]
			of.Forecast, of.Certain, of.Fleet, of.Batch = from.Forecast, true, from.Fleet, from.Batch
		}
	}
}

// findOthers lists the other autoscalers of the same target.
func (r *reader) findOthers(ctx context.Context, s *reading) {
	all, err := r.clients.AutoscalingV2().HorizontalPodAutoscalers(r.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.note("other HPAs of the same target: %s", client.APIMessage(err))
		return
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Name != s.hpa.Name && sameTarget(other.Spec.ScaleTargetRef, s.hpa.Spec.ScaleTargetRef) {
			s.OtherAutoscalers = append(s.OtherAutoscalers, "HorizontalPodAutoscaler/"+other.Name)
		}
	}
	slices.Sort(s.OtherAutoscalers)
}

// sameTarget reports whether both are the same object, in whatever version of its API.
func sameTarget(a, b autoscalingv2.CrossVersionObjectReference) bool {
	return schema.FromAPIVersionAndKind(a.APIVersion, a.Kind).GroupKind() ==
		schema.FromAPIVersionAndKind(b.APIVersion, b.Kind).GroupKind() && a.Name == b.Name
}
