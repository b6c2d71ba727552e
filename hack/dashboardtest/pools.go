package dashboardtest

import (
	"context"
	"log/slog"
	"math"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Member is the workload of a pool's member: the demand that a replica sustains, and how many replicas an HPA allows.
type Member struct {
	Forecast    snapshot.Key
	Target      float64
	MaxReplicas int
}

// NewPools returns the controller of a pool in the member's namespace, over a cluster in memory: a chunk is ready at the
// step after it was held, and as many replicas run as the observed demand needs.
func NewPools(snapshots *snapshot.Store, m Member, step time.Duration) (*pools.Controller, error) {
	var object map[string]any
	err := yaml.Unmarshal([]byte(`
metadata: {name: h100, namespace: `+m.Forecast.Namespace+`, uid: h100, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  members: [{forecast: `+m.Forecast.Name+`}]
  chunk: {podTemplate: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
  max: 8
  budget: {idleGPUHoursPerDay: 120}
  mode: Enforce
`), &object)
	if err != nil {
		return nil, err
	}
	decoded, err := manifest.PoolFromObject(object)
	if err != nil {
		return nil, err
	}
	resolved, problems := manifest.ResolvePool(decoded)
	if text := manifest.JoinProblems(problems); text != "" {
		return nil, problems.ToAggregate()
	}
	cluster := &poolCluster{member: m, snapshots: snapshots}
	cluster.pool = &pools.Pool{WarmPool: resolved.Object.DeepCopy(), Resolved: resolved}
	return pools.NewController(pools.Config{Step: step}, pools.Dependencies{
		Pools: cluster, Snapshots: snapshots, Workloads: cluster, Actuator: cluster,
	}, slog.New(slog.DiscardHandler)), nil
}

// poolCluster has one pool and one member.
type poolCluster struct {
	member    Member
	snapshots *snapshot.Store
	pool      *pools.Pool
	held      int
	ready     int
}

func (*poolCluster) Check() error { return nil }

func (c *poolCluster) List() []*pools.Pool { return []*pools.Pool{c.pool} }

func (c *poolCluster) UpdateStatus(_ context.Context, _ *pools.Pool, status *v1alpha1.WarmPoolStatus) error {
	next := *c.pool
	next.WarmPool = c.pool.DeepCopy()
	next.Status = *status
	c.pool = &next
	return nil
}

func (c *poolCluster) Mark(_ context.Context, _ *pools.Pool, _ bool) (*pools.Pool, error) {
	next := *c.pool
	next.WarmPool = c.pool.DeepCopy()
	next.Annotations = map[string]string{pools.HoldsAnnotation: "true"}
	c.pool = &next
	return c.pool, nil
}

func (c *poolCluster) Replicas(key snapshot.Key) (placed, waiting int, known bool) {
	entry := c.snapshots.Load().Get(key)
	if entry == nil || !(entry.Observed >= 0) {
		return 0, 0, false
	}
	return max(1, int(math.Ceil(entry.Observed/c.member.Target))), 0, true
}

func (*poolCluster) Starts(snapshot.Key, time.Time) (leadtime.Estimates, bool) {
	return leadtime.Estimates{}, false
}

func (c *poolCluster) Autoscalers(snapshot.Key) []decide.Autoscaler {
	target := int64(1000 * c.member.Target)
	return []decide.Autoscaler{{Name: "hpa", HPA: hpa.Spec{
		Min: 1, Max: int32(c.member.MaxReplicas), Metrics: []hpa.Metric{{Target: target}}, //nolint:gosec // Tens.
	}}}
}

func (c *poolCluster) Observe(context.Context, *v1alpha1.WarmPool) (pools.Actual, error) {
	out := pools.Actual{
		Types: []pools.Count{{Held: int32(c.held), Ready: int32(min(c.held, c.ready))}},
	} //nolint:gosec // Tens.
	c.ready = c.held
	return out, nil
}

func (c *poolCluster) Hold(ctx context.Context, p *v1alpha1.WarmPool, want pools.Desired) (pools.Actual, error) {
	c.held = want.Base
	return c.Observe(ctx, p)
}

func (c *poolCluster) Release(context.Context, *v1alpha1.WarmPool) error {
	c.held, c.ready = 0, 0
	return nil
}
