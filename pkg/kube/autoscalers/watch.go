// Package autoscalers watches the HorizontalPodAutoscalers and, where KEDA is installed, the ScaledObjects of a
// cluster, and keeps which of their metrics name which Forecast.
//
// It keeps only these references, and most objects have none. So it uses reflectors without the copies of informers.
// A HorizontalPodAutoscaler whose status changes every 15 s changes nothing here.
package autoscalers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// Config has the intervals of a Watch. The zero value of a field means its default.
type Config struct {
	// Retry is the pause after an error; default 30 s, plus up to half of it at random.
	Retry time.Duration
}

// Watch watches the autoscalers of all namespaces. It is safe for concurrent use.
type Watch struct {
	config Config
	log    *slog.Logger
	kinds  []*kind

	mu    sync.Mutex
	index index
}

// New returns a watch of a cluster's autoscalers. It sends no requests before Run.
func New(cluster *rest.Config, config Config, log *slog.Logger) (*Watch, error) {
	own := rest.CopyConfig(cluster)
	objects, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for ScaledObjects: %w", err)
	}
	own.ContentType = "application/vnd.kubernetes.protobuf"
	own.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for HorizontalPodAutoscalers: %w", err)
	}
	return FromClients(clients, objects, config, log), nil
}

// FromClients is New with given clients.
func FromClients(clients kubernetes.Interface, objects dynamic.Interface, config Config, log *slog.Logger) *Watch {
	config.Retry = cmp.Or(config.Retry, 30*time.Second)
	w := &Watch{config: config, log: log, index: newIndex()}
	w.kinds = []*kind{w.horizontalPodAutoscalers(clients), w.scaledObjects(objects)}
	return w
}

func (w *Watch) horizontalPodAutoscalers(clients kubernetes.Interface) *kind {
	client := clients.AutoscalingV2().HorizontalPodAutoscalers(metav1.NamespaceAll)
	return &kind{
		watch: w, name: "HorizontalPodAutoscaler", example: &autoscalingv2.HorizontalPodAutoscaler{},
		source: listerWatcher(client.List, client.Watch, clients),
		read: func(item any) []manifest.Reference {
			if object, ok := item.(*autoscalingv2.HorizontalPodAutoscaler); ok {
				return autoscaler.FromHPA(object)
			}
			return nil
		},
	}
}

func (w *Watch) scaledObjects(objects dynamic.Interface) *kind {
	client := objects.Resource(autoscaler.ScaledObjects())
	example := &unstructured.Unstructured{}
	example.SetGroupVersionKind(autoscaler.ScaledObjects().GroupVersion().WithKind("ScaledObject"))
	return &kind{
		watch: w, name: "ScaledObject", example: example,
		source: listerWatcher(client.List, client.Watch, objects),
		read: func(item any) []manifest.Reference {
			if object, ok := item.(*unstructured.Unstructured); ok {
				return autoscaler.FromScaledObject(object)
			}
			return nil
		},
	}
}

// listerWatcher lists and watches by the methods of a client.
func listerWatcher[L runtime.Object](
	list func(context.Context, metav1.ListOptions) (L, error),
	follow func(context.Context, metav1.ListOptions) (watch.Interface, error), client any,
) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return list(ctx, options)
		},
		WatchFuncWithContext: follow,
	}, client)
}

// Run watches the autoscalers until the context ends.
func (w *Watch) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, k := range w.kinds {
		running.Go(func() { k.run(ctx) })
	}
}

// WaitForSync waits until each kind was listed once, or failed, and reports whether that was before the timeout.
func (w *Watch) WaitForSync(ctx context.Context, patience time.Duration) bool {
	const glance = 20 * time.Millisecond
	return wait.PollUntilContextTimeout(ctx, glance, patience, true, func(context.Context) (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !slices.ContainsFunc(w.kinds, func(k *kind) bool { return !k.tried }), nil
	}) == nil
}

// References returns the references to a Forecast, or to an alias of one, in the order of the autoscalers' kinds and names. The slice is
// read only, and the same one while nothing has changed.
func (w *Watch) References(forecast snapshot.Key) []manifest.Reference {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.references[forecast]
}

// Named returns the Forecasts and the aliases that autoscalers name, whether they exist or not.
func (w *Watch) Named() []snapshot.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.index.references))
}

// Problem returns why not all autoscalers are known; empty where they are.
func (w *Watch) Problem() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var words []string
	for _, k := range w.kinds {
		if k.err != nil {
			words = append(words, k.err.message)
		}
	}
	return strings.Join(words, "; ")
}
