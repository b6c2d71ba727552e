package actuator

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// ByKind holds each pool by the actuator that its spec names. When a pool names another than before, what it held by that
// is given back. It is not for concurrent use.
type ByKind struct {
	balloon *Balloon
	buffer  *CapacityBuffer
	scale   *Scale
	// alone are the generations of pools that hold nothing but by the actuator they name.
	alone map[types.UID]int64
}

// answer is how long one of the API server may take.
const answer = 10 * time.Second

// New makes the actuators for a cluster. Nothing is asked yet.
func New(cluster *rest.Config, now func() time.Time) (*ByKind, error) {
	own := rest.CopyConfig(cluster)
	own.Timeout = answer
	own.QPS, own.Burst = 50, 100 // A few lists for each pool, every 15 s.
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for warm pools: %w", err)
	}
	objects, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for what warm pools hold: %w", err)
	}
	asking, err := discovery.NewDiscoveryClientForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for the kinds of what warm pools scale: %w", err)
	}
	deployments := newOwned(objects, appsv1.SchemeGroupVersion.WithResource("deployments"), "Deployment")
	buffers := schema.GroupVersionResource{
		Group:    "autoscaling.x-k8s.io",
		Version:  "v1beta1",
		Resource: "capacitybuffers",
	}
	return &ByKind{
		balloon: &Balloon{
			client:      client,
			deployments: deployments,
			images:      &images{deployments: deployments},
			now:         now,
		},
		buffer: &CapacityBuffer{
			templates: newOwned(objects, corev1.SchemeGroupVersion.WithResource("podtemplates"), "PodTemplate"),
			buffers:   newOwned(objects, buffers, "CapacityBuffer"),
			now:       now,
		},
		scale: &Scale{
			client: objects,
			mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asking)),
		},
		alone: map[types.UID]int64{},
	}, nil
}

// all are the actuators, that which a pool names first; an invalid pool, of which there is no spec, is only given back.
func (b *ByKind) all(pool *v1alpha1.WarmPool) []Actuator {
	switch a := pool.Spec.Actuator; {
	case a != nil && a.CapacityBuffer != nil:
		return []Actuator{b.buffer, b.balloon, b.scale}
	case a != nil && a.Scale != nil:
		return []Actuator{b.scale, b.balloon, b.buffer}
	}
	return []Actuator{b.balloon, b.buffer, b.scale}
}

// Hold holds by the actuator that the pool names, and by no other.
func (b *ByKind) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Want) (Held, error) {
	all := b.all(pool)
	if b.alone[pool.UID] != pool.Generation {
		if err := releaseAll(ctx, pool, all[1:]); err != nil {
			return Held{}, err
		}
	}
	held, err := all[0].Hold(ctx, pool, want)
	if err == nil {
		b.alone[pool.UID] = pool.Generation
	}
	return held, err
}

// Look says what there is by the actuator that the pool names.
func (b *ByKind) Look(ctx context.Context, pool *v1alpha1.WarmPool) (Held, error) {
	return b.all(pool)[0].Look(ctx, pool)
}

// Release gives back whatever the pool holds by any actuator.
func (b *ByKind) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	delete(b.alone, pool.UID)
	all := b.all(pool)
	return errors.Join(all[0].Release(ctx, pool), releaseAll(ctx, pool, all[1:]))
}

// releaseAll gives back what a pool may hold by actuators that it does not name. What may not even be listed has not been
// made: whoever uses one actuator need not grant the rights of the others.
func releaseAll(ctx context.Context, pool *v1alpha1.WarmPool, others []Actuator) error {
	var problems []error
	for _, other := range others {
		err := other.Release(ctx, pool)
		if p := AsProblem(err); p == nil || p.Reason != reasonForbidden {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
