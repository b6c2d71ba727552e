package pools

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// Watch watches the pools of all namespaces. Each is decoded by itself, so that one that does not fit its type does
// not affect the others. It is safe for concurrent use.
type Watch struct {
	*informer.Watch[Pool]

	log    *slog.Logger
	client dynamic.NamespaceableResourceInterface
}

// NewWatch returns a watch of the pools. It sends no requests before Run.
func NewWatch(cluster *rest.Config, log *slog.Logger) (*Watch, error) {
	own := informer.Slim(cluster)
	// The controller has a limit of its own. The client's default of 5 requests/s would be a hidden second one.
	own.QPS = -1
	client, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for WarmPools: %w", err)
	}
	w := &Watch{log: log, client: client.Resource(resource())}
	w.Watch = informer.New(informer.From(w.client, client, ""), newPool, informer.Config[Pool]{
		Name:    "WarmPools",
		Advice:  "apply deploy/default, or upgrade the chart, to use warm pools",
		Index:   covered,
		Changed: w.logInvalid,
		Failed:  w.logProblem,
		Bound: &informer.Bound[Pool]{
			Limit:   maxPerNamespace,
			Compare: byAge,
			Stub:    tooMany,
			Get:     informer.GetBy(w.client),
		},
	})
	return w, nil
}

func resource() schema.GroupVersionResource {
	return v1alpha1.GroupVersion().WithResource("warmpools")
}

// List returns the pools of all namespaces, in the order of their namespaces and names. Read only.
func (w *Watch) List() []*Pool {
	pools := w.Watch.List()
	slices.SortFunc(pools, func(a, b *Pool) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return pools
}

// Covered returns the pool that covers a Forecast, and since when, as the leader last wrote it. If several cover it,
// which is transient, the oldest counts.
func (w *Watch) Covered(namespace, forecast string) (pool string, since time.Time, ok bool) {
	found := w.Indexed(snapshot.Key{Namespace: namespace, Name: forecast}.String())
	if len(found) == 0 {
		return "", time.Time{}, false
	}
	oldest := slices.MinFunc(found, byAge)
	i := slices.IndexFunc(oldest.Status.Covered, func(c v1alpha1.Cover) bool { return c.Forecast == forecast })
	return oldest.Name, oldest.Status.Covered[i].Since.Time, true
}

// covered returns the Forecasts that a pool covers, for the index.
func covered(p *Pool) []string {
	var out []string
	for _, c := range p.Status.Covered {
		out = append(out, p.memberKey(c.Forecast).String())
	}
	return out
}

// logInvalid logs the problems of a pool when they change.
func (w *Watch) logInvalid(before, p *Pool) {
	if p == nil || p.Problem == "" || before != nil && before.Problem == p.Problem {
		return
	}
	w.log.Warn("a WarmPool is invalid", "pool", p.key().String(), "problem", p.Problem)
}

func (w *Watch) logProblem(ctx context.Context, problem *informer.ReadError) {
	level := slog.LevelWarn
	if apierrors.IsNotFound(problem) {
		level = slog.LevelInfo // This cluster uses Forecasts only.
	}
	w.log.Log(ctx, level, "warm pools are off", "reason", problem)
}
