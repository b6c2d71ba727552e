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

	"github.com/forewarm/forewarm/pkg/core/fleet"
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
	// fleets has the plans of the GPUFleets; nil without --fleets.
	fleets *fleet.Store
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
	extra, err := watchExtras(o, client, objects, snapshots, log)
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
		statuses.SetEvents(recorder)
		runAll(
			func() { groups.ReportChanges(ctx, recorder) },
			func() { serving.lead(ctx) },
			func() { extra.lead(ctx, recorder) },
			func() { hold(ctx, groups, holdConfig(&o, serving.authority()), read, snapshots) },
			func() { statuses.Run(ctx, run.WallClock{}) },
		)
	}
	metrics, err := gather(extra.and(groups, replicas, objects, statuses.Refused())...)
	return &forecastSource{
		targets: objects, changed: objects.Changed(),
		parts: []run.Part{
			{Name: "watch of WarmPools", Run: extra.pools.watch.Run},
			{Name: "watch of DemandEvents", Run: extra.events.run},
			{Name: "watch of GPUFleets", Run: extra.fleets.run},
			{Name: "watch of Forecasts", Run: afterReading(objects.Run, extra.pools.watch, extra.events, extra.fleets)},
			{Name: "watch of APIServices", Run: groups.Run},
			{
				Name: "comparison",
				Run:  func(ctx context.Context) error { replicas.Run(ctx, run.WallClock{}); return nil },
			},
			{Name: "leadership", Run: func(ctx context.Context) error { return leadership.Run(ctx, lead) }},
		},
		check: read, served: groups.Reached, common: common, metrics: metrics, fleets: extra.fleets.store,
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

// extras are the other objects of a cluster that concern Forecasts.
type extras struct {
	pools  *warmPools
	events announcements
	fleets gpuFleets
}

// lead does what only the leader does for them, until the context ends.
func (e extras) lead(ctx context.Context, recorder events.EventRecorder) {
	e.pools.controller.SetEvents(recorder)
	runAll(
		func() { e.pools.controller.Run(ctx, run.WallClock{}) },
		func() { e.events.lead(ctx, recorder) },
		func() { e.fleets.lead(ctx, recorder) },
	)
}

// and returns collectors, and the collectors of these objects.
func (e extras) and(others ...prometheus.Collector) []prometheus.Collector {
	ofPools := []prometheus.Collector{e.pools.controller, e.pools.controller.Refused()}
	return slices.Concat(others, ofPools, e.events.collectors(), e.fleets.collectors())
}

func watchExtras(
	o Options, client *rest.Config, objects *forecasts.Objects, snapshots *snapshot.Store, log *slog.Logger,
) (out extras, err error) {
	if out.pools, err = watchPools(o, client, objects, snapshots, log); err != nil {
		return out, err
	}
	if out.events, err = watchEvents(o, client, objects, snapshots, log); err != nil {
		return out, err
	}
	out.fleets, err = watchFleets(o, client, objects, snapshots, log)
	return out, err
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

// collectors has the metric of the events whose status is rejected, if events are read.
func (a announcements) collectors() []prometheus.Collector {
	if a.statuses == nil {
		return nil
	}
	return []prometheus.Collector{a.statuses.Refused()}
}

// WaitForSync waits until the events were read, and reports whether that was before a timeout.
func (a announcements) WaitForSync(ctx context.Context, timeout time.Duration) bool {
	return a.watch == nil || a.watch.WaitForSync(ctx, timeout)
}
