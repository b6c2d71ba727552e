// Package autoscalers watches the HorizontalPodAutoscalers of a cluster, and the ScaledObjects if KEDA is installed. It records which of
// their metrics read which Forecast.
//
// It keeps only these references, and most objects have none. A HorizontalPodAutoscaler whose status changes every 15 s causes no
// change here.
package autoscalers

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// Config has the intervals of a Watch. The zero value of a field means its default.
type Config struct {
	// Retry is the longest pause after an error; default 30 s, plus up to half of it at random.
	Retry time.Duration
}

// Watch watches the autoscalers of all namespaces. It is safe for concurrent use.
type Watch struct {
	log   *slog.Logger
	kinds []*informer.Watch[references]

	mu sync.Mutex
	// byForecast has the references to each Forecast or alias, sorted by kind and name of the autoscalers. The slices are never modified, so
	// callers can compare them by identity.
	byForecast map[snapshot.Key]references
}

// references are the references of one autoscaler, or all references to one Forecast.
type references []manifest.Reference

// New returns a watch of a cluster's autoscalers. It sends no requests before Run.
func New(cluster *rest.Config, config Config, log *slog.Logger) (*Watch, error) {
	own := rest.CopyConfig(cluster)
	objects, err := dynamic.NewForConfig(informer.Slim(own))
	if err != nil {
		return nil, fmt.Errorf("create a client for ScaledObjects: %w", err)
	}
	own.ContentType = "application/vnd.kubernetes.protobuf"
	own.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for HorizontalPodAutoscalers: %w", err)
	}
	return FromClients(clients, objects, config, log), nil
}

// FromClients is New with given clients.
func FromClients(clients kubernetes.Interface, objects dynamic.Interface, config Config, log *slog.Logger) *Watch {
	w := &Watch{log: log, byForecast: map[snapshot.Key]references{}}
	hpas := clients.AutoscalingV2().HorizontalPodAutoscalers(metav1.NamespaceAll)
	scaledObjects := objects.Resource(autoscaler.ScaledObjects())
	w.kinds = []*informer.Watch[references]{
		kind(w, hpa.KindHPA, config, informer.From(hpas, clients, ""), autoscaler.FromHPA),
		kind(w, hpa.KindScaledObject, config, informer.From(scaledObjects, objects, ""),
			func(object *unstructured.Unstructured) *hpa.Autoscaler {
				if read, err := autoscaler.FromScaledObject(object); err == nil {
					return read
				}
				return &hpa.Autoscaler{} // KEDA cannot read it either.
			}),
	}
	return w
}

// kind returns a watch of one kind of autoscaler.
func kind[O runtime.Object](
	w *Watch, name string, config Config, source cache.ListerWatcher, parse func(O) *hpa.Autoscaler,
) *informer.Watch[references] {
	read := func(object O) *references {
		if out := references(autoscaler.References(parse(object))); len(out) > 0 {
			return out.bounded()
		}
		return nil
	}
	return informer.New(source, read, informer.Config[references]{
		Name: name + "s", Advice: "apply deploy/default, or upgrade the chart", Optional: true, Retry: config.Retry,
		Index: names, Changed: w.observe,
		Failed: func(ctx context.Context, problem *informer.ReadError) {
			w.log.WarnContext(
				ctx,
				"cannot read autoscalers, so objectives are calibrated for the known autoscalers or for spec.scaling; retrying",
				"kind",
				name,
				"error",
				problem,
			)
		},
	})
}

// maxSize limits the memory that the references of one autoscaler may take, in bytes. One reference takes about half a KiB.
const maxSize = 16 << 10

// bounded returns the references if they fit into maxSize. If not, it returns a single reference that reports this, or nil if even that one
// is too large.
func (r *references) bounded() *references {
	if informer.SizeOf(*r) <= maxSize {
		return r
	}
	first := manifest.Reference{
		Forecast:   (*r)[0].Forecast,
		Autoscaler: (*r)[0].Autoscaler,
		Workload:   (*r)[0].Workload,
		Refused: fmt.Sprintf(
			"its %d metrics that read Forecasts take more than %d KiB of memory: use fewer metrics, or a shorter "+
				"behavior",
			len(*r), maxSize>>10),
	}
	if out := (references{first}); informer.SizeOf(out) <= maxSize {
		return &out
	}
	return nil
}

// named returns the Forecasts and the aliases to which the references refer.
func (r *references) named() map[snapshot.Key]bool {
	out := map[snapshot.Key]bool{}
	if r == nil {
		return out
	}
	for i := range *r {
		out[(*r)[i].Forecast] = true
		if alias := (*r)[i].Alias; alias.Name != "" {
			out[alias] = true
		}
	}
	return out
}

// names returns what the references refer to, as keys of the index.
func names(r *references) []string {
	var out []string
	for key := range r.named() {
		out = append(out, key.String())
	}
	return out
}

// observe rebuilds the references that a change affects.
func (w *Watch) observe(before, after *references) {
	if reflect.DeepEqual(before, after) {
		return
	}
	touched := before.named()
	maps.Copy(touched, after.named())
	w.mu.Lock()
	defer w.mu.Unlock()
	for forecast := range touched {
		w.rebuild(forecast)
	}
}

// rebuild rebuilds the references to a Forecast.
func (w *Watch) rebuild(forecast snapshot.Key) {
	var all references
	for _, kind := range w.kinds {
		for _, own := range kind.Indexed(forecast.String()) {
			for _, r := range *own {
				if named, ok := r.As(forecast); ok {
					all = append(all, named)
				}
			}
		}
	}
	if len(all) == 0 {
		delete(w.byForecast, forecast)
		return
	}
	slices.SortStableFunc(all, func(a, b manifest.Reference) int { return strings.Compare(a.Autoscaler, b.Autoscaler) })
	w.byForecast[forecast] = all
}

// Run watches the autoscalers until the context ends.
func (w *Watch) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, kind := range w.kinds {
		running.Go(func() { _ = kind.Run(ctx) }) //nolint:errcheck // It is nil.
	}
}

// WaitForSync waits until each kind was listed once, or failed, and reports whether that was before the timeout.
func (w *Watch) WaitForSync(ctx context.Context, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, kind := range w.kinds {
		if !kind.WaitForSync(ctx, timeout) {
			return false
		}
	}
	return true
}

// References returns the references to a Forecast, or to an alias of one, in the order of the autoscalers' kinds and names. The slice is
// read only, and the same one while nothing has changed.
func (w *Watch) References(forecast snapshot.Key) []manifest.Reference {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byForecast[forecast]
}

// Named returns the Forecasts and the aliases that autoscalers name, whether they exist or not.
func (w *Watch) Named() []snapshot.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byForecast))
}

// Problem returns why not all autoscalers are known; empty where they are.
func (w *Watch) Problem() string {
	var words []string
	for _, kind := range w.kinds {
		if problem := kind.Problem(); problem != nil {
			words = append(words, problem.Text)
		}
	}
	return strings.Join(words, "; ")
}
