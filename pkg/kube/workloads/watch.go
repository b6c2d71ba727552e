package workloads

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// MaxWorkloads bounds the workloads, and so the watches, of one process. Those that come first by namespace, kind and name
// are followed.
const MaxWorkloads = 1000

// What is asked of the API server, by all watches of a process together: a thousand workloads are followed a minute after
// the start.
const (
	requestsPerSecond = 50
	requestsAtOnce    = 100
	// patience with one answer; a watch has none.
	patience = 5 * time.Second
)

// Config is the pace of a Watch. The zero value of a field means its default.
type Config struct {
	// Retry is the pause after a workload could not be followed; default 1 min, and up to half as much again.
	Retry time.Duration
	// Recheck is how often a workload is asked for its scale, whose selector may be another; default 10 min.
	Recheck time.Duration
}

// Watch follows the pods of workloads. It is safe for concurrent use.
type Watch struct {
	config Config
	wanted func() []leadtime.Workload
	log    *slog.Logger
	mapper meta.ResettableRESTMapper
	scales dynamic.Interface
	pods   kubernetes.Interface

	changed chan struct{}

	mu        sync.Mutex
	following map[leadtime.Workload]*follower
	// left are the workloads beyond MaxWorkloads.
	left map[leadtime.Workload]bool
	// said are the faults that were logged, one of a kind for each namespace.
	said map[string]bool
}

// New prepares to follow the workloads that a function names, each once. Nothing is asked before Run.
func New(cluster *rest.Config, config Config, wanted func() []leadtime.Workload, log *slog.Logger) (*Watch, error) {
	config.Retry, config.Recheck = cmp.Or(config.Retry, time.Minute), cmp.Or(config.Recheck, 10*time.Minute)
	own := rest.CopyConfig(cluster)
	own.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(requestsPerSecond, requestsAtOnce)
	brief := rest.CopyConfig(own)
	brief.Timeout = patience
	asking, err := discovery.NewDiscoveryClientForConfig(brief)
	if err != nil {
		return nil, fmt.Errorf("make a client for the kinds of workloads: %w", err)
	}
	scales, err := dynamic.NewForConfig(brief)
	if err != nil {
		return nil, fmt.Errorf("make a client for the scale of workloads: %w", err)
	}
	// Pods are large, and cheaper to read this way.
	own.ContentType = "application/vnd.kubernetes.protobuf"
	own.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	pods, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client for pods: %w", err)
	}
	return &Watch{
		config: config, wanted: wanted, log: log, scales: scales, pods: pods,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asking)),
		changed:   make(chan struct{}, 1),
		following: map[leadtime.Workload]*follower{}, left: map[leadtime.Workload]bool{}, said: map[string]bool{},
	}, nil
}

// Changed says that other workloads may be wanted. It does not wait.
func (w *Watch) Changed() {
	select {
	case w.changed <- struct{}{}:
	default: // The next look is due already.
	}
}

// Run follows the wanted workloads until the context ends.
func (w *Watch) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		w.look(ctx, &running)
		select {
		case <-ctx.Done():
			return
		case <-w.changed:
		}
	}
}

// look begins to follow what is newly wanted, and ends what is not wanted any more.
func (w *Watch) look(ctx context.Context, running *sync.WaitGroup) {
	wanted := w.wanted()
	slices.SortFunc(wanted, compare)
	wanted = slices.Compact(wanted)
	followed := wanted[:min(len(wanted), MaxWorkloads)]
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.left)
	for _, workload := range wanted[len(followed):] {
		w.left[workload] = true
	}
	for workload, f := range w.following {
		if _, found := slices.BinarySearchFunc(followed, workload, compare); !found {
			f.stop()
			delete(w.following, workload)
		}
	}
	for _, workload := range followed {
		if w.following[workload] != nil {
			continue
		}
		own, stop := context.WithCancel(ctx)
		f := &follower{
			watch: w, workload: workload, stop: stop, firsts: leadtime.Firsts{},
			living: map[types.UID]place{},
		}
		w.following[workload] = f
		running.Go(func() { f.run(own) })
	}
}

func compare(a, b leadtime.Workload) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Name, b.Name), strings.Compare(a.APIVersion, b.APIVersion))
}

func (w *Watch) follower(workload leadtime.Workload) *follower {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.following[workload]
}

// Starts are the newest starts of a workload's pods, the oldest first; none for a workload that is not followed.
func (w *Watch) Starts(workload leadtime.Workload) []leadtime.Start {
	if f := w.follower(workload); f != nil {
		return f.starts()
	}
	return nil
}

// AtZero says whether a workload stands at zero replicas; known is false while that is not known.
func (w *Watch) AtZero(workload leadtime.Workload) (zero, known bool) {
	if f := w.follower(workload); f != nil {
		return f.atZero()
	}
	return false, false
}

// Places says how many replicas of a workload have a place on a node, and how many wait for one; known is false while that
// is not known. A replica is a pod that the workload's scale selects, has not ended and was not told to; of a workload that
// scales groups of pods, as a LeaderWorkerSet, that is a group's leader, so that a group counts as placed while some of its
// workers may still wait.
func (w *Watch) Places(workload leadtime.Workload) (placed, waiting int, known bool) {
	if f := w.follower(workload); f != nil {
		return f.places()
	}
	return 0, 0, false
}

// Listing is the problem of a workload whose pods have not been listed yet, without a fault.
const Listing = "the pods are being listed"

// Problem says in words why the pods of a workload are not watched; empty where they are.
func (w *Watch) Problem(workload leadtime.Workload) string {
	if f := w.follower(workload); f != nil {
		return f.problem()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left[workload] {
		return fmt.Sprintf("no more than %d workloads are watched", MaxWorkloads)
	}
	return Listing
}

// report logs a fault that its operator can mend, once for each namespace: there it concerns many workloads alike, and
// each Forecast says it in its own status.
func (w *Watch) report(ctx context.Context, f *fault, workload leadtime.Workload) {
	w.mu.Lock()
	key := f.kind + " " + workload.Namespace
	before := w.said[key]
	w.said[key] = true
	w.mu.Unlock()
	if !before {
		w.log.WarnContext(ctx, "starts cannot be measured, trying again", "namespace", workload.Namespace,
			"workload", workload.Ref(), "error", f)
	}
}
