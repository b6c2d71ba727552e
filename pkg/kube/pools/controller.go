package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Config has the intervals of a Controller. The zero value of a field means its default.
type Config struct {
	// Step is the interval between steps; default 15 s. All other intervals are multiples of it.
	Step time.Duration
}

// Intervals, in number of steps.
const (
	// renewSteps is how often an unchanged plan is applied again, because someone may have changed the pool's objects.
	renewSteps = 4
	// problemRetrySteps is the retry interval after an error that the user must correct. After other errors, the interval grows from one step
	// to maxRetrySteps.
	problemRetrySteps, maxRetrySteps = 4, 16
	// statusSteps is the minimum interval between two routine writes of a pool's status. The memory is written every memorySteps even without
	// a change, so that a new leader loses little.
	statusSteps, memorySteps = 2, 4
	// noticeSteps is the delay between the decision to cover a member and the time from which it applies, so that all replicas know about it.
	noticeSteps = 4
)

// poolTimeout bounds the step of one pool.
const poolTimeout = 30 * time.Second

// Pools are the WarmPools of a cluster; a Watch implements it.
type Pools interface {
	// Check returns nil once all pools have been read. Until then, the oldest pool of a member is unknown.
	Check() error
	// List returns the pools of all namespaces. Callers must not modify them.
	List() []*Pool
	// UpdateStatus and Mark fail if the pool has changed since it was read.
	UpdateStatus(ctx context.Context, p *Pool, status *v1alpha1.WarmPoolStatus) error
	Mark(ctx context.Context, p *Pool, holds bool) (*Pool, error)
}

// Dependencies are what a Controller reads and acts on.
type Dependencies struct {
	Pools     Pools
	Snapshots *snapshot.Store
	Workloads Workloads
	Actuator  Actuator
}

// Controller reconciles the pools. Only the leader may run it.
type Controller struct {
	Dependencies

	interval time.Duration
	log      *slog.Logger
	events   writes.Events
	queue    *writes.Queue
	pools    map[types.UID]*poolState
	// changed has the pools whose chunks changed in the newest step.
	changed []poolStep
	// metrics are the metrics of the newest step; nil while this replica does not lead.
	metrics atomic.Pointer[[]poolMetrics]
}

// poolState is the state of a pool that the leader keeps between steps. The status has the part that the next leader needs.
type poolState struct {
	memory warmpool.Memory
	// held is what the actuator reported last; seen is false before the first report.
	held Actual
	seen bool
	// attempted is the pool's generation at the last attempt to hold. want is what was requested last, at the time heldAt.
	attempted int64
	want      Desired
	heldAt    time.Time
	// err is the error of the last attempt. There is no further attempt before retry.
	err      error
	failures int
	retry    time.Time
	// waiting is how many chunks the members' replicas wait for. The number has not changed since waitingSince.
	waiting      float64
	waitingSince time.Time
	// said are the metrics of the newest step.
	said poolMetrics
}

// NewController returns a controller.
func NewController(config Config, in Dependencies, log *slog.Logger) *Controller {
	return &Controller{
		Dependencies: in, interval: cmp.Or(config.Step, 15*time.Second), log: log,
		queue: writes.NewQueue(v1alpha1.WarmPoolKind, writesPerSecond, burst, log), pools: map[types.UID]*poolState{},
	}
}

// SetEvents sets where events are sent. Call it before Run.
func (c *Controller) SetEvents(events writes.Events) {
	c.events = events
	c.queue.SetEvents(events)
}

// Refused has the metric of the pools whose status is refused.
func (c *Controller) Refused() *writes.Queue { return c.queue }

// Run takes steps until the context ends. It restores the state from the statuses, so that a new leader continues
// where the previous one stopped.
func (c *Controller) Run(ctx context.Context, clock run.Clock) {
	c.pools = map[types.UID]*poolState{}
	defer c.metrics.Store(nil)
	defer c.queue.Reset()
	var last changes.LastError
	for {
		due := clock.Now().Add(c.interval)
		err := c.Step(ctx, clock.Now())
		if last.IsNew(err) && ctx.Err() == nil {
			c.log.WarnContext(ctx, "cannot reconcile some warm pools, retrying", "error", err)
		}
		if len(c.changed) > 0 && c.interval > podDelay && clock.WaitUntil(ctx, clock.Now().Add(podDelay)) == nil {
			c.holdChanged(ctx)
		}
		if err := clock.WaitUntil(ctx, due); err != nil {
			return
		}
	}
}

// podDelay is how long the pods of a Deployment that changed take to be created, and to be settled.
const podDelay = settleTime + 2*time.Second

// holdChanged calls Hold again for the pools that changed in the newest step, so that pods that were created meanwhile do not have to wait
// for the next step. The next step will see any errors.
func (c *Controller) holdChanged(ctx context.Context) {
	for _, v := range c.changed {
		own, cancel := context.WithTimeout(ctx, poolTimeout)
		if held, err := c.Actuator.Hold(own, v.WarmPool, v.want); err == nil {
			v.held = held
		}
		cancel()
	}
}

// Step plans every pool, holds the plan, and writes the status. An error affects its pool only. Before the first
// snapshot, and before the pools were read, it does nothing.
func (c *Controller) Step(ctx context.Context, now time.Time) error {
	newest := c.Snapshots.Load()
	if all := c.Pools.Check() == nil; newest == nil || !all {
		return nil
	}
	pools := c.Pools.List()
	by := groupByMember(pools)
	// Writes are limited. The status that has waited longest is written first, so that each of a thousand pools gets its turn.
	writes.Sort(c.queue, now, pools, func(p *Pool) (metav1.Object, bool) { return p, false })
	elapsed, exists := writes.Stopwatch(), make(map[types.UID]bool, len(pools))
	term := make(map[types.UID]*poolState, len(pools))
	gauges := make([]poolMetrics, 0, len(pools))
	c.changed = nil
	var problems []error
	for _, p := range pools {
		k := c.pools[p.UID]
		if k == nil {
			k = c.restore(ctx, p)
		}
		k.heedClock(now, c.interval)
		term[p.UID], exists[p.UID] = k, true
		if c.queue.IsSlow(p, now) && elapsed() > c.interval {
			gauges = append(gauges, k.said) // Its turn is at a later step: others must not wait for its namespace.
			continue
		}
		err := c.stepInTime(ctx, now, newest, poolStep{Pool: p, poolState: k, claims: by})
		if err != nil && ctx.Err() == nil {
			problems = append(problems, fmt.Errorf("%s: %w", p.key(), err))
		}
		gauges = append(gauges, k.said)
	}
	c.queue.Keep(exists)
	c.pools = term
	c.metrics.Store(&gauges)
	// A problem of the cluster affects every pool, and there may be a thousand. A few errors are enough.
	const told = 5
	if more := len(problems) - told; more > 0 {
		problems = append(problems[:told], fmt.Errorf("and %d more", more))
	}
	return errors.Join(problems...)
}

// stepInTime reconciles one pool. It remembers namespaces in which that takes long, for example because a webhook does not answer.
func (c *Controller) stepInTime(ctx context.Context, now time.Time, newest *snapshot.Snapshot, v poolStep) error {
	const long = 3 * time.Second
	own, cancel := context.WithTimeout(ctx, poolTimeout)
	defer cancel()
	elapsed := writes.Stopwatch()
	err := c.step(own, now, newest, v)
	if elapsed() > long {
		c.queue.MarkSlow(v.Namespace, now)
	}
	return err
}

// restore restores the state of a pool from its status.
func (c *Controller) restore(ctx context.Context, p *Pool) *poolState {
	held := p.Status.Memory
	if held == nil {
		return &poolState{}
	}
	memory, err := memoryIn(held)
	if err != nil {
		c.log.WarnContext(ctx, "the memory in the status of a WarmPool is invalid and is discarded", "pool",
			p.key().String(), "error", err)
	}
	return &poolState{memory: memory}
}

// recordError records an error and when to retry. If the user must correct something, the interval is fixed; otherwise it grows.
func (c *Controller) recordError(v *poolStep, err error, now time.Time) {
	v.failures++
	wait := min(1<<min(v.failures-1, 8), maxRetrySteps)
	if AsProblem(err) != nil {
		wait = problemRetrySteps
	}
	v.err, v.retry, v.attempted = err, now.Add(time.Duration(wait)*c.interval), v.Generation
}

// heedClock discards times in the future. They were recorded while the clock was ahead, before it was set back.
func (k *poolState) heedClock(now time.Time, pace time.Duration) {
	if k.heldAt.After(now) {
		k.heldAt = time.Time{}
	}
	if k.retry.After(now.Add(maxRetrySteps * pace)) {
		k.retry = time.Time{}
	}
}

func (k *poolState) clearError() { k.err, k.failures, k.retry = nil, 0, time.Time{} }
