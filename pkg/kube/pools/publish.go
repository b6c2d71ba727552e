package pools

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// Limits for all status writes together.
const (
	writesPerSecond = 10
	burst           = 50
)

// writeStatus writes a status that has changed, and emits events.
func (c *Controller) writeStatus(
	ctx context.Context, now time.Time, v *poolStep, status *v1alpha1.WarmPoolStatus,
) error {
	waited := now.Sub(c.queue.Tried(v, now))
	switch urgencyOf(&v.Status, status) {
	case writes.Unchanged:
		if equality.Semantic.DeepEqual(status.Memory, v.Status.Memory) || waited < memorySteps*c.interval {
			return nil
		}
	case writes.Routine:
		if waited < statusSteps*c.interval {
			return nil
		}
	case writes.Urgent:
	}
	written, err := c.queue.Step(ctx, now, []writes.Write{{Object: v.WarmPool, Do: func(ctx context.Context) error {
		return c.Pools.UpdateStatus(ctx, v.Pool, status)
	}}})
	if written > 0 {
		c.emitChanges(v.Pool, status)
	}
	return err
}

// urgencyOf returns the urgency of the change between two statuses.
func urgencyOf(before, after *v1alpha1.WarmPoolStatus) writes.Urgency {
	switch {
	case before.ObservedGeneration != after.ObservedGeneration,
		before.State != after.State,
		!equality.Semantic.DeepEqual(before.ScaleBefore, after.ScaleBefore),
		!slices.Equal(before.Covered, after.Covered),
		!slices.EqualFunc(before.Conditions, after.Conditions, v1alpha1.SameCondition):
		return writes.Urgent
	}
	same := *after
	same.Memory = before.Memory
	if equality.Semantic.DeepEqual(before, &same) {
		return writes.Unchanged
	}
	return writes.Routine
}

// emitChanges emits an event for each condition whose status changed, or which is False for a new reason. Ready is left out, because it
// depends on the other conditions and on the plan, which changes many times a day.
func (c *Controller) emitChanges(p *Pool, after *v1alpha1.WarmPoolStatus) {
	conditions := after.Conditions
	if after.State != v1alpha1.PoolReasonInvalid && after.State != v1alpha1.PoolReasonReleasing {
		isReady := func(c metav1.Condition) bool { return c.Type == v1alpha1.PoolConditionReady }
		conditions = slices.DeleteFunc(slices.Clone(conditions), isReady)
	}
	writes.EachChange(p.Status.Conditions, conditions, func(kind, reason, message string) {
		c.emitEvent(p, kind, reason, message)
	})
}

func (c *Controller) emitEvent(p *Pool, kind, reason, message string) {
	if c.events != nil {
		c.events.Event(p.WarmPool, kind, reason, v1alpha1.ClipEvent(message))
	}
}

var _ prometheus.Collector = (*Controller)(nil)

// poolMetrics are the metrics of a pool without the unknown ones.
type poolMetrics struct {
	namespace, name string
	budget          float64
	planned         bool
	// values are in the order of descriptions.
	values [6]float64
}

func newDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_warm_pool_"+name, help, []string{"namespace", "pool"}, nil)
}

//nolint:gochecknoglobals // Constants.
var descriptions = [...]*prometheus.Desc{
	newDesc("wanted_chunks", "Chunks that the forecasts of the members require, within the limits of the pool."),
	newDesc("held_chunks", "Chunks that Forewarm has requested through the actuator. 0 in mode Recommend."),
	newDesc("ready_chunks", "Requested chunks that are present on nodes."),
	newDesc("borrowed_chunks", "Chunks that the pods of members have taken from the pool, as long as they are not "+
		"replaced yet."),
	newDesc("idle_gpu_seconds", "GPU-seconds that the chunks of the pool have been idle today (UTC)."),
	newDesc("falling_back",
		"1 while the pool holds its fallback, because forecasts are unreliable or the budget is spent, otherwise 0."),
}

//nolint:gochecknoglobals // A constant.
var budgetDesc = newDesc("budget_gpu_seconds",
	"Time for which the chunks of the pool are allowed to be idle in a day (UTC), in GPU-seconds.")

// secondsPerHour converts GPU-hours to GPU-seconds.
const secondsPerHour = 3600

// metricsOf returns the metrics of a pool; the plan is nil if there was none.
func metricsOf(v *poolStep, plan *warmpool.Plan) poolMetrics {
	g := poolMetrics{namespace: v.Namespace, name: v.Name, budget: v.Resolved.Pool.Budget * secondsPerHour}
	if plan == nil {
		return g
	}
	g.planned = true
	for i, n := range []int{plan.Want, v.capacity().Held, v.capacity().Ready, plan.Borrowed} {
		g.values[i] = float64(n)
	}
	g.values[4] = plan.Idle * secondsPerHour
	if plan.State == warmpool.FallingBack || plan.State == warmpool.OverBudget {
		g.values[5] = 1
	}
	return g
}

// Describe implements prometheus.Collector.
func (*Controller) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d
	}
	out <- budgetDesc
}

// Collect sends the metrics of every pool at the newest step. Only the leader sends any, so that a sum over replicas
// counts each pool once.
func (c *Controller) Collect(out chan<- prometheus.Metric) {
	all := c.metrics.Load()
	if all == nil {
		return
	}
	for _, g := range *all {
		if g.budget > 0 {
			out <- prometheus.MustNewConstMetric(budgetDesc, prometheus.GaugeValue, g.budget, g.namespace, g.name)
		}
		for i, d := range descriptions {
			if g.planned {
				out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, g.values[i], g.namespace, g.name)
			}
		}
	}
}
