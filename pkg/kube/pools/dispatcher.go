package pools

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
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// Dispatcher holds each pool by the actuator that its spec names. When the spec changes to another actuator, it
// releases what the previous one held. It is not safe for concurrent use.
type Dispatcher struct {
	placeholders *PlaceholderPods
	buffer       *CapacityBuffer
	scale        *Scale
	// released are the generations of pools for which the other actuators hold nothing.
	released map[types.UID]int64
}

// requestTimeout bounds one request to the API server.
const requestTimeout = 10 * time.Second

// NewDispatcher returns the actuators of a cluster. It sends no requests.
func NewDispatcher(cluster *rest.Config, now func() time.Time) (*Dispatcher, error) {
	own := rest.CopyConfig(cluster)
	own.Timeout = requestTimeout
	own.QPS, own.Burst = 50, 100 // A few lists for each pool, every 15 s.
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for warm pools: %w", err)
	}
	objects, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for the objects of warm pools: %w", err)
	}
	slim, err := dynamic.NewForConfig(informer.Slim(own))
	if err != nil {
		return nil, fmt.Errorf("make a client for the targets of warm pools: %w", err)
	}
	asking, err := discovery.NewDiscoveryClientForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for the targets of warm pools: %w", err)
	}
	deployments := newOwned(objects, appsv1.SchemeGroupVersion.WithResource("deployments"), "Deployment")
	buffers := schema.GroupVersionResource{
		Group:    "autoscaling.x-k8s.io",
		Version:  "v1beta1",
		Resource: "capacitybuffers",
	}
	return &Dispatcher{
		placeholders: &PlaceholderPods{
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
			client: slim, // It lists objects of others.
			pods:   client.CoreV1(),
			now:    now,
			mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asking)),
		},
		released: map[types.UID]int64{},
	}, nil
}

// ordered returns all actuators, the one that the pool names first. An invalid pool has no spec; it is only released.
func (b *Dispatcher) ordered(pool *v1alpha1.WarmPool) []Actuator {
	switch a := pool.Spec.Actuator; {
	case a != nil && a.CapacityBuffer != nil:
		return []Actuator{b.buffer, b.placeholders, b.scale}
	case a != nil && a.Scale != nil:
		return []Actuator{b.scale, b.placeholders, b.buffer}
	}
	return []Actuator{b.placeholders, b.buffer, b.scale}
}

// Hold holds the pool by the actuator that it names, and by no other.
func (b *Dispatcher) Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error) {
	all := b.ordered(pool)
	if b.released[pool.UID] != pool.Generation {
		if err := releaseAll(ctx, pool, all[1:]); err != nil {
			return Actual{}, err
		}
	}
	held, err := all[0].Hold(ctx, pool, want)
	if err == nil {
		b.released[pool.UID] = pool.Generation
	}
	return held, err
}

// Observe returns what the actuator that the pool names holds.
func (b *Dispatcher) Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error) {
	return b.ordered(pool)[0].Observe(ctx, pool)
}

// Release releases what the pool holds by any actuator.
func (b *Dispatcher) Release(ctx context.Context, pool *v1alpha1.WarmPool) error {
	delete(b.released, pool.UID)
	all := b.ordered(pool)
	return errors.Join(all[0].Release(ctx, pool), releaseAll(ctx, pool, all[1:]))
}

// releaseAll releases what a pool may hold by actuators that it does not name. Without the right to list objects,
// none were created: an actuator does not need the rights of the others.
func releaseAll(ctx context.Context, pool *v1alpha1.WarmPool, others []Actuator) error {
	var problems []error
	for _, other := range others {
		err := other.Release(ctx, pool)
		if p := AsProblem(err); p == nil || p.Reason != v1alpha1.PoolReasonForbidden {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
