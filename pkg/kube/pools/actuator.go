package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Actuator holds the chunks of pools that have their defaults. Errors that the user must correct are Problems; all
// others are retried.
type Actuator interface {
	// Hold requests a number of chunks of each capacity type, and returns the chunks that exist. It is idempotent.
	Hold(ctx context.Context, pool *v1alpha1.WarmPool, want Desired) (Actual, error)
	// Observe returns the chunks that exist, and changes nothing.
	Observe(ctx context.Context, pool *v1alpha1.WarmPool) (Actual, error)
	// Release releases what the pool holds. When it returns without an error, its objects are deleted; placeholder
	// pods may still be terminating.
	Release(ctx context.Context, pool *v1alpha1.WarmPool) error
}

// Desired are the chunks to hold: Base of the first capacity type, Tail of the second, where there are two.
type Desired struct {
	Base, Tail int
}

// Actual is what a pool holds.
type Actual struct {
	// Types are the chunks by capacity type, in the pool's order; one without a name where it has none.
	Types []Count
	// Warning is what blocks the remaining chunks, for example a quota, with advice; empty where nothing does.
	Warning string
	// Before is the scale before the pool set it. It must be in the pool's status before the pool sets anything, so
	// that any leader can restore it. Nil for other actuators.
	Before *v1alpha1.ScaleBefore
}

// Count is the chunks of one capacity type: requested, and ready.
type Count = v1alpha1.CapacityTypeStatus

// Problem is an error that the user of a pool must correct. Reason is that of a condition.
type Problem struct { //nolint:errname // It becomes the message of a condition. Few problems are seen as errors.
	Reason, Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

func problem(reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// AsProblem returns the Problem in an error; nil where there is none.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return nil
}

// classifyError returns a Problem if a retry does not help. Otherwise it returns the error itself.
func (o *owned) classifyError(doing string, pool *v1alpha1.WarmPool, err error) error {
	what := fmt.Sprintf("%s the %ss of the pool %s/%s", doing, o.kind, pool.Namespace, pool.Name)
	switch {
	case apierrors.IsForbidden(err) && isQuotaError(err.Error()):
		return problem(v1alpha1.PoolReasonQuotaExceeded, "cannot %s: %s: raise the quota, or lower spec.max", what,
			errorLine(err))
	case apierrors.IsForbidden(err):
		const advice = "cannot %s: %s: apply deploy/warm-pools, set warmPools.enforce in the chart, or check the admission webhooks"
		return problem(v1alpha1.PoolReasonForbidden, advice, what, errorLine(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem(v1alpha1.PoolReasonRejected, "cannot %s: %s: correct spec.chunk.podTemplate", what,
			errorLine(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isQuotaError reports whether a quota rejected a request.
func isQuotaError(words string) bool { return strings.Contains(words, "exceeded quota") }

// errorLine returns an error on one line, short enough for a condition.
func errorLine(err error) string { return clipLine(err.Error()) }

// clipLine returns a text on one line, short enough for a condition.
func clipLine(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// invalidField reports whether a rejection names a field.
func invalidField(err error, field string) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	named := func(c metav1.StatusCause) bool { return c.Field == field }
	return slices.ContainsFunc(status.Status().Details.Causes, named)
}

// listPodsError returns why placeholder pods cannot be listed.
func listPodsError(pool *v1alpha1.WarmPool, err error) error {
	if apierrors.IsForbidden(err) {
		return problem(v1alpha1.PoolReasonForbidden,
			"Forewarm is not allowed to list pods in %s: apply deploy/default, or upgrade the chart", pool.Namespace)
	}
	return fmt.Errorf("list the placeholders of the pool %s/%s: %w", pool.Namespace, pool.Name, err)
}

// Dispatcher holds each pool by the actuator that its spec names. When the spec changes to another actuator, it
// releases what the previous one held. It is not safe for concurrent use.
type Dispatcher struct {
	placeholders *PlaceholderPods
	buffer       *CapacityBuffer
	scale        *Scale
	// released has the generation of each pool for which the other actuators hold nothing.
	released map[types.UID]int64
}

// requestTimeout bounds one request to the API server.
const requestTimeout = 10 * time.Second

// NewDispatcher returns the actuators of a cluster. It sends no requests.
func NewDispatcher(cluster *rest.Config, now func() time.Time) (*Dispatcher, error) {
	own := rest.CopyConfig(cluster)
	own.Timeout = requestTimeout
	own.QPS, own.Burst = 50, 100 // Each pool needs a few lists every 15 s.
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for warm pools: %w", err)
	}
	objects, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for the objects of warm pools: %w", err)
	}
	slim, err := dynamic.NewForConfig(informer.Slim(own))
	if err != nil {
		return nil, fmt.Errorf("create a client for the targets of warm pools: %w", err)
	}
	asking, err := discovery.NewDiscoveryClientForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for the targets of warm pools: %w", err)
	}
	buffers := schema.GroupVersionResource{
		Group:    "autoscaling.x-k8s.io",
		Version:  "v1beta1",
		Resource: "capacitybuffers",
	}
	return &Dispatcher{
		placeholders: &PlaceholderPods{
			client:      client,
			deployments: newOwned(objects, appsv1.SchemeGroupVersion.WithResource("deployments"), "Deployment"),
			now:         now,
		},
		buffer: &CapacityBuffer{
			templates: newOwned(objects, corev1.SchemeGroupVersion.WithResource("podtemplates"), "PodTemplate"),
			buffers:   newOwned(objects, buffers, "CapacityBuffer"),
			now:       now,
		},
		scale: &Scale{
			client: slim, // This client lists objects that belong to others.
			pods:   client.CoreV1(),
			now:    now,
			mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asking)),
		},
		released: map[types.UID]int64{},
	}, nil
}

// ordered returns all actuators, beginning with the one that the pool specifies. An invalid pool has no spec and is only released.
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

// releaseAll releases what a pool may hold through actuators that it no longer specifies. Without permission to list objects of a kind,
// Forewarm cannot have created any. One actuator therefore does not need the permissions of the others.
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
