package serve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	events "k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/demandevents"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/peers"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// forecastSource provides the Forecasts, with the parts that must run for it.
type forecastSource struct {
	targets refresh.Jobs
	// files has the Forecasts in a folder; nil if they are in a cluster.
	files apiserver.ForecastFiles
	// changed is notified when Forecasts have changed; nil if there is no notification.
	changed changes.Signal

	parts []run.Part
	// check passes once the objects have been read.
	check run.Check
	// served reports whether another adapter replica may be ready while this one is not.
	served func() bool
	// common returns the conditions that all objects share; nil if there are none.
	common func() []snapshot.Condition
	// metrics has the metrics of the objects' controllers.
	metrics prometheus.Gatherers
}

// openForecasts opens the folder of Forecasts, or prepares to watch the cluster and to write statuses.
func openForecasts(
	o Options, serving *servingCertificates, resolver *manifest.Resolver, snapshots *snapshot.Store, log *slog.Logger,
) (*forecastSource, error) {
	if o.ConfigDir == "" {
		return watchForecasts(o, serving, resolver, snapshots, log)
	}
	files, err := manifest.OpenFolder(o.ConfigDir, resolver, log)
	if err != nil {
		return nil, err
	}
	changed := changes.NewSignal()
	files.OnPause(changed.Enqueue)
	return &forecastSource{
		targets: files, files: files, changed: changed,
		parts: []run.Part{{
			Name: "folder of Forecasts",
			Run:  func(ctx context.Context) error { return files.Run(ctx, run.WallClock{}) },
		}},
		check:  run.Check{Name: "forecasts", Run: func() error { return nil }},
		served: func() bool { return false },
	}, nil
}

func watchForecasts(
	o Options, serving *servingCertificates, resolver *manifest.Resolver, snapshots *snapshot.Store, log *slog.Logger,
) (*forecastSource, error) {
	client, objects, err := openObjects(o, resolver, log)
	if err != nil {
		return nil, err
	}
	leadership, replicas, err := openLease(o, client, snapshots, log)
	if err != nil {
		return nil, err
	}
	warm, announced, err := watchPoolsAndEvents(o, client, objects, snapshots, log)
	if err != nil {
		return nil, err
	}
	statuses := forecasts.NewStatusWriter(objects, snapshots, log)
	groups, err := aggregation.NewGroups(client, ownService(&o), log)
	if err != nil {
		return nil, err
	}
	common := func() []snapshot.Condition { return slices.Concat(groups.Conditions(), replicas.Conditions()) }
	statuses.SetCommonConditions(common)
	clients, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, fmt.Errorf("make a client for events: %w", err)
	}
	objects.SetExternalHeld(func() bool { return groups.Holds(aggregation.External) })
	read := run.Check{Name: "forecasts", Run: objects.Check}
	lead := func(ctx context.Context) {
		recorder, shutdown := startRecorder(ctx, clients)
		defer shutdown()
		warm.controller.SetEvents(recorder)
		statuses.SetEvents(recorder)
		runAll(
			func() { groups.ReportChanges(ctx, recorder) },
			func() { serving.lead(ctx) },
			func() { announced.lead(ctx, recorder) },
			func() { hold(ctx, groups, holdConfig(&o, serving.authority()), read, snapshots) },
			func() { warm.controller.Run(ctx, run.WallClock{}) },
			func() { statuses.Run(ctx, run.WallClock{}) },
		)
	}
	metrics, err := gather(
		announced.and(groups, replicas, warm.controller, warm.controller.Refused(), objects, statuses.Refused())...)
	return &forecastSource{
		targets: objects, changed: objects.Changed(),
		parts: []run.Part{
			{Name: "watch of WarmPools", Run: warm.watch.Run},
			{Name: "watch of DemandEvents", Run: announced.run},
			{Name: "watch of Forecasts", Run: afterReading(objects.Run, warm.watch, announced)},
			{Name: "watch of APIServices", Run: groups.Run},
			{
				Name: "comparison",
				Run:  func(ctx context.Context) error { replicas.Run(ctx, run.WallClock{}); return nil },
			},
			{Name: "leadership", Run: func(ctx context.Context) error { return leadership.Run(ctx, lead) }},
		},
		check: read, served: groups.Reached, common: common, metrics: metrics,
	}, err
}

func openObjects(o Options, resolver *manifest.Resolver, log *slog.Logger) (*rest.Config, *forecasts.Objects, error) {
	client, err := clientcmd.BuildConfigFromFlags("", o.Cluster.Kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("no cluster to read Forecasts from: set --kubeconfig or --config-dir: %w", err)
	}
	objects, err := forecasts.NewObjects(client, resolver, log)
	if err != nil {
		return nil, nil, err
	}
	objects.SetLimits(o.Limits)
	return client, objects, nil
}

// openLease prepares the two tasks for which replicas use the lease: to elect a leader, and to compare themselves with each other.
func openLease(
	o Options, client *rest.Config, snapshots *snapshot.Store, log *slog.Logger,
) (*forecasts.Leadership, *peers.Watch, error) {
	leadership, err := forecasts.NewLeadership(client, o.Lease, log)
	if err != nil {
		return nil, nil, err
	}
	replicas, err := peers.New(client, o.Lease, func() peers.Statement { return statement(&o, snapshots) }, log)
	return leadership, replicas, err
}

// gather registers the metrics of controllers.
func gather(controllers ...prometheus.Collector) (prometheus.Gatherers, error) {
	registry := prometheus.NewRegistry()
	for _, one := range controllers {
		if err := registry.Register(one); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return prometheus.Gatherers{registry}, nil
}

// runAll runs tasks concurrently, and returns after all of them have returned.
func runAll(tasks ...func()) {
	var running sync.WaitGroup
	for _, task := range tasks {
		running.Go(task)
	}
	running.Wait()
}

// hold takes over the API groups once the Forecasts and their histories were read. An APIService without a server would disturb the whole
// cluster.
func hold(
	ctx context.Context,
	groups *aggregation.Groups,
	config aggregation.HoldConfig,
	read run.Check,
	snapshots *snapshot.Store,
) {
	if run.Await(ctx, read, apiserver.HistoryCheck(snapshots, run.WallClock{}.Now, groups.Reached)) == nil {
		groups.Hold(ctx, run.WallClock{}, config)
	}
}

// startRecorder starts a recorder of events. An adapter replica shuts it down when it no longer leads.
func startRecorder(ctx context.Context, clients kubernetes.Interface) (recorder events.EventRecorder, shutdown func()) {
	broadcaster := events.NewBroadcaster(events.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: "forewarm"}), broadcaster.Shutdown
}

func watchPoolsAndEvents(
	o Options, client *rest.Config, objects *forecasts.Objects, snapshots *snapshot.Store, log *slog.Logger,
) (*warmPools, announcements, error) {
	warm, err := watchPools(o, client, objects, snapshots, log)
	if err != nil {
		return nil, announcements{}, err
	}
	announced, err := watchEvents(o, client, objects, snapshots, log)
	return warm, announced, err
}

// warmPools are the warm pools. Every adapter replica watches them, because they cover Forecasts. Only the leader acts on them.
type warmPools struct {
	watch      *pools.Watch
	controller *pools.Controller
}

// watchPools shortens the lead time of Forecasts for which a pool is ready, and lets pools hold capacity for Forecasts. In a cluster
// without the WarmPool CRD, the watch logs this once.
func watchPools(
	o Options, client *rest.Config, objects *forecasts.Objects, snapshots *snapshot.Store, log *slog.Logger,
) (*warmPools, error) {
	watch, err := pools.NewWatch(client, log)
	if err != nil {
		return nil, err
	}
	objects.SetCovers(watch)
	held, err := pools.NewDispatcher(client, run.WallClock{}.Now)
	if err != nil {
		return nil, err
	}
	keeper := pools.NewController(o.WarmPools, pools.Dependencies{
		Pools: watch, Snapshots: snapshots, Workloads: objects, Actuator: held,
	}, log)
	return &warmPools{watch: watch, controller: keeper}, nil
}

// afterReading delays a task until the objects on which it depends have been listed, or cannot be listed. A Forecast that is resolved
// before its pool or its events would have to be rebuilt once they are known.
func afterReading(task func(context.Context) error, first ...interface {
	WaitForSync(ctx context.Context, timeout time.Duration) bool
},
) func(context.Context) error {
	const patience = 10 * time.Second
	return func(ctx context.Context) error {
		for _, one := range first {
			one.WaitForSync(ctx, patience)
		}
		return task(ctx)
	}
}

// announcements are the DemandEvents. Every adapter replica watches them, and the leader writes their statuses. Without --demand-events
// there are none.
type announcements struct {
	watch    *demandevents.Watch
	statuses *demandevents.StatusWriter
}

func watchEvents(
	o Options, client *rest.Config, objects *forecasts.Objects, snapshots *snapshot.Store, log *slog.Logger,
) (announcements, error) {
	if !o.DemandEvents {
		return announcements{}, nil
	}
	watch, err := demandevents.NewWatch(client, log)
	if err != nil {
		return announcements{}, err
	}
	objects.SetEventSource(watch)
	return announcements{watch: watch, statuses: demandevents.NewStatusWriter(watch, objects, snapshots)}, nil
}

func (a announcements) run(ctx context.Context) error {
	if a.watch == nil {
		<-ctx.Done()
		return nil
	}
	return a.watch.Run(ctx)
}

func (a announcements) lead(ctx context.Context, recorder events.EventRecorder) {
	if a.statuses != nil {
		a.statuses.SetEvents(recorder)
		a.statuses.Run(ctx, run.WallClock{})
	}
}

// and returns collectors. It adds the collector for events whose status is rejected, if there is one.
func (a announcements) and(others ...prometheus.Collector) []prometheus.Collector {
	if a.statuses == nil {
		return others
	}
	return append(others, a.statuses.Refused())
}

// WaitForSync waits until the events were read, and reports whether that was before a timeout.
func (a announcements) WaitForSync(ctx context.Context, timeout time.Duration) bool {
	return a.watch == nil || a.watch.WaitForSync(ctx, timeout)
}
