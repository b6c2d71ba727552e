package workloads

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// maxNamespaces limits the number of namespaces in which a process watches pods. In other namespaces it reads only the scales.
const maxNamespaces = 1000

// Rate limits for all requests of a process. With these limits, the scales of three thousand workloads are read within a minute of the
// start.
const (
	requestsPerSecond = 50
	requestBurst      = 100
	// requestTimeout limits one request; watches have no timeout.
	requestTimeout = 5 * time.Second
	// readers is how many scales are read concurrently.
	readers = 20
)

// Config has the intervals of a Watch. The zero value of a field means its default.
type Config struct {
	// Retry is the pause after an error; default 1 min, plus up to half of it at random.
	Retry time.Duration
	// Recheck is how often the scale of a workload is read, whose selector may change; default 10 min.
	Recheck time.Duration
	// MaxNamespaces whose pods are watched; default 1,000.
	MaxNamespaces int
}

// Watch watches the pods of workloads. It is safe for concurrent use.
type Watch struct {
	config Config
	wanted func() []leadtime.Workload
	log    *slog.Logger
	mapper meta.ResettableRESTMapper
	scales dynamic.Interface
	pods   kubernetes.Interface

	changed changes.Signal
	// due has the workloads whose scales must be read.
	due workqueue.TypedDelayingInterface[leadtime.Workload]

	mu         sync.Mutex
	following  map[leadtime.Workload]*follower
	namespaces map[string]*namespace
	// logged has the errors that have been logged: one of each kind for each namespace.
	logged map[string]bool
}

// New returns a watch of the workloads that a function returns. It sends no requests before Run.
func New(cluster *rest.Config, config Config, wanted func() []leadtime.Workload, log *slog.Logger) (*Watch, error) {
	config.Retry, config.Recheck = cmp.Or(config.Retry, time.Minute), cmp.Or(config.Recheck, 10*time.Minute)
	config.MaxNamespaces = cmp.Or(config.MaxNamespaces, maxNamespaces)
	own := rest.CopyConfig(cluster)
	own.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(requestsPerSecond, requestBurst)
	brief := rest.CopyConfig(own)
	brief.Timeout = requestTimeout
	asking, err := discovery.NewDiscoveryClientForConfig(brief)
	if err != nil {
		return nil, fmt.Errorf("create a client for the kinds of workloads: %w", err)
	}
	scales, err := dynamic.NewForConfig(brief)
	if err != nil {
		return nil, fmt.Errorf("create a client for the scale of workloads: %w", err)
	}
	// Pods are large, and this format is cheaper to decode.
	own.ContentType = "application/vnd.kubernetes.protobuf"
	own.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	pods, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("create a client for pods: %w", err)
	}
	return &Watch{
		config: config, wanted: wanted, log: log, scales: scales, pods: pods,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asking)),
		changed:   changes.NewSignal(),
		following: map[leadtime.Workload]*follower{}, namespaces: map[string]*namespace{}, logged: map[string]bool{},
	}, nil
}

// Changed tells the watch to call its function again. It does not block.
func (w *Watch) Changed() { w.changed.Enqueue() }

// Run watches the wanted workloads until the context ends.
func (w *Watch) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	w.due = workqueue.NewTypedDelayingQueue[leadtime.Workload]()
	defer w.due.ShutDown()
	for range readers {
		running.Go(func() { w.readScales(ctx) })
	}
	for {
		w.sync(ctx, &running)
		select {
		case <-ctx.Done():
			return
		case <-w.changed:
		}
	}
}

// readScales reads the scale of each workload when it is due, until the queue is shut down.
func (w *Watch) readScales(ctx context.Context) {
	for {
		workload, down := w.due.Get()
		if down {
			return
		}
		if f := w.follower(workload); f != nil {
			w.due.AddAfter(workload, f.readScale(ctx))
		}
		w.due.Done(workload)
	}
}

// sync starts to watch new workloads, and stops to watch those that are no longer wanted.
func (w *Watch) sync(ctx context.Context, running *sync.WaitGroup) {
	wanted, places := map[leadtime.Workload]bool{}, map[string]bool{}
	for _, workload := range w.wanted() {
		wanted[workload], places[workload.Namespace] = true, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.syncNamespaces(ctx, running, slices.Sorted(maps.Keys(places)))
	for workload, f := range w.following {
		if !wanted[workload] || f.pods != w.namespaces[workload.Namespace] {
			f.pods.remove(f)
			delete(w.following, workload)
		}
	}
	for workload := range wanted {
		if w.following[workload] == nil {
			w.following[workload] = newFollower(w, workload, w.namespaces[workload.Namespace])
			w.due.Add(workload)
		}
	}
}

// syncNamespaces starts to watch the pods of the first maxNamespaces namespaces, and stops to watch the others. The caller holds the lock.
func (w *Watch) syncNamespaces(ctx context.Context, running *sync.WaitGroup, names []string) {
	if many := len(names); many > w.config.MaxNamespaces {
		names = names[:w.config.MaxNamespaces]
		if !w.logged["many"] {
			w.logged["many"] = true
			w.log.WarnContext(
				ctx,
				"too many namespaces: in some of them, Forewarm does not measure the starts of pods, and notices "+
					"late when a workload is scaled to zero",
				"namespaces",
				many,
				"watched",
				len(names),
			)
		}
	}
	for name, n := range w.namespaces {
		if _, found := slices.BinarySearch(names, name); !found {
			n.stop()
			delete(w.namespaces, name)
		}
	}
	for _, name := range names {
		if w.namespaces[name] == nil {
			w.namespaces[name] = w.watchNamespace(ctx, running, name)
		}
	}
}

func (w *Watch) follower(workload leadtime.Workload) *follower {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.following[workload]
}

// Starts returns the newest starts of a workload's pods, the oldest first; none for a workload that is not watched.
func (w *Watch) Starts(workload leadtime.Workload) []leadtime.Start {
	if f := w.follower(workload); f != nil {
		return f.starts()
	}
	return nil
}

// ScaledToZero reports whether a workload is scaled to zero; known is false while that is unknown.
func (w *Watch) ScaledToZero(workload leadtime.Workload) (zero, known bool) {
	if f := w.follower(workload); f != nil {
		return f.scaledToZero()
	}
	return false, false
}

// Replicas are how many replicas a workload has. A replica is a pod that the workload's scale selects and that has not ended. Of a workload that scales groups of pods, like a LeaderWorkerSet, it is a group's leader, so a group counts
// as placed and ready while some of its workers may still wait.
type Replicas struct {
	// Wanted by the scale, as it was read in the last ten minutes.
	Wanted int
	// Living replicas, of which some are Placed on a node, and some are Ready. Terminating replicas are not among them, but have a node until
	// they end.
	Living, Placed, Ready, Terminating int
}

// Replicas returns the replicas of a workload; known is false while they are unknown.
func (w *Watch) Replicas(workload leadtime.Workload) (out Replicas, known bool) {
	if f := w.follower(workload); f != nil {
		return f.countReplicas()
	}
	return Replicas{}, false
}

// Pods returns the UIDs of a workload's replicas, including those that are terminating.
func (w *Watch) Pods(workload leadtime.Workload) []string {
	if f := w.follower(workload); f != nil {
		return f.uids()
	}
	return nil
}

// UnplacedSince counts the replicas of a workload that have no node although they were created at a time or before.
func (w *Watch) UnplacedSince(workload leadtime.Workload, at time.Time) int {
	if f := w.follower(workload); f != nil {
		return f.unplacedSince(at)
	}
	return 0
}

// Starting reports whether a replica of a workload is starting: it was created after a given time and is not ready yet, or it has become
// ready after another one.
func (w *Watch) Starting(workload leadtime.Workload, created, ready time.Time) bool {
	f := w.follower(workload)
	return f != nil && f.starting(created, ready)
}

// Listing is the problem of a workload whose pods have not been listed yet, without an error.
const Listing = "Forewarm is still listing the pods"

// Problem returns why the pods of a workload are not watched; empty where they are.
func (w *Watch) Problem(workload leadtime.Workload) string {
	if f := w.follower(workload); f != nil {
		return f.problem()
	}
	return Listing
}

// logOnce logs an error once of each kind for each namespace. It is for errors that the operator must correct, and for errors that may
// pass. Such an error affects many workloads in the same way, and each Forecast also has it in its status.
func (w *Watch) logOnce(ctx context.Context, of, namespace string, problem *informer.ReadError) {
	key := fmt.Sprintf("%s %s %v", of, namespace, apierrors.IsForbidden(problem))
	w.mu.Lock()
	before := w.logged[key]
	w.logged[key] = true
	w.mu.Unlock()
	if !before {
		w.log.WarnContext(ctx, "cannot measure the starts of pods, retrying", "namespace", namespace, "error", problem)
	}
}
