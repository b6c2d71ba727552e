package dashboardtest

import (
	"context"
	"log/slog"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// NewFleets returns the metrics of a fleet in the member's namespace at a time.
func NewFleets(
	ctx context.Context, snapshots *snapshot.Store, m Member, now time.Time,
) (*fleets.StatusWriter, error) {
	var object map[string]any
	err := yaml.Unmarshal([]byte(`
metadata: {name: h100, namespace: `+m.Forecast.Namespace+`, uid: h100, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  gpus: {count: 64}
  members: [{forecast: `+m.Forecast.Name+`}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}]
`), &object)
	if err != nil {
		return nil, err
	}
	decoded, err := manifest.FleetFromObject(object)
	if err != nil {
		return nil, err
	}
	resolved, problems := manifest.ResolveFleet(decoded)
	if len(problems) > 0 {
		return nil, problems.ToAggregate()
	}
	cluster := &fleetCluster{&fleets.Fleet{GPUFleet: resolved.Object, Resolved: resolved}}
	workloads := fleetWorkloads{&poolCluster{member: m, snapshots: snapshots}}
	planner := fleets.NewPlanner(fleets.Dependencies{
		Fleets: cluster, Snapshots: snapshots, Workloads: workloads, Cluster: cluster, Store: &fleet.Store{},
	})
	planner.Step(ctx, now)
	out := fleets.NewStatusWriter(planner, cluster, slog.New(slog.DiscardHandler))
	err = out.Step(ctx, now)
	return out, err
}

// fleetWorkloads are those of a pool's members.
type fleetWorkloads struct{ *poolCluster }

func (fleetWorkloads) Pods(snapshot.Key) ([]string, bool) { return nil, true }

// fleetCluster has one fleet, and neither nodes nor pods.
type fleetCluster struct{ fleet *fleets.Fleet }

func (*fleetCluster) Check() error { return nil }

func (c *fleetCluster) List() []*fleets.Fleet { return []*fleets.Fleet{c.fleet} }

func (c *fleetCluster) Oldest(snapshot.Key) *fleets.Fleet { return c.fleet }

func (*fleetCluster) UpdateStatus(context.Context, *fleets.Fleet, *v1alpha1.GPUFleetStatus) error {
	return nil
}

func (*fleetCluster) Follow(context.Context, map[string]bool) {}

func (*fleetCluster) Nodes() ([]*fleets.Node, error) { return nil, nil }

func (*fleetCluster) Queue(string) (*fleets.Queue, error) { return nil, nil } //nolint:nilnil // There is none.

func (*fleetCluster) Pods(string) ([]*fleets.Pod, error) { return nil, nil }
