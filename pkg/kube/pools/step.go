package pools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/writes"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// poolStep is a pool at a step, with its state.
type poolStep struct {
	*Pool
	*poolState
	claims poolsByMember
}

// step reconciles one pool. An error that it returns is temporary, or is also in the status.
func (c *Controller) step(ctx context.Context, now time.Time, newest *snapshot.Snapshot, v poolStep) error {
	v.said = metricsOf(&v, nil)
	switch {
	case v.DeletionTimestamp != nil:
		err := c.release(ctx, now, &v)
		if err != nil {
			err = c.writeStatus(ctx, now, &v, releasingStatus(v.Pool, now, err)) // The status has the error.
		}
		return err
	case v.Problem != "":
		return c.writeStatus(ctx, now, &v, invalidStatus(v.Pool, now))
	}
	r := c.resolveMembers(now, newest, v.Pool, v.claims)
	l := c.leadTimesOf(now, newest, v.Pool)
	var kept error
	if v.enforced() {
		c.observe(ctx, now, &v)
	} else {
		kept = c.release(ctx, now, &v)
	}
	asked := v.Resolved.Pool
	asked.Pod, asked.Node = l.pod, l.node
	plan, memory := v.memory.Plan(now, asked, r.members, v.capacity())
	v.memory = memory
	if v.enforced() {
		want := Desired{Base: plan.Want}
		if v.Resolved.Pool.Split {
			want = Desired{Base: plan.Base, Tail: plan.Tail}
		}
		c.hold(ctx, now, &v, v.yield(now, want, r.members), plan.Message)
	}
	v.said = metricsOf(&v, &plan)
	s := poolReport{poolStep: v, plan: plan, members: r, lead: l, notice: noticeSteps * c.interval}
	return errors.Join(kept, c.writeStatus(ctx, now, &v, s.status(now)))
}

// capacity returns what the pool holds, as last observed. If this leader has not observed it yet, the status is used.
func (v *poolStep) capacity() warmpool.Capacity {
	if !v.seen {
		return warmpool.Capacity{Held: int(v.Status.Held), Ready: int(v.Status.Ready)}
	}
	var out warmpool.Capacity
	for _, t := range v.held.Types {
		out.Held += int(t.Held)
		out.Ready += int(t.Ready)
	}
	return out
}

// observe reads what the actuator holds, unless the pool is backing off.
func (c *Controller) observe(ctx context.Context, now time.Time, v *poolStep) {
	if !v.mayHold() {
		v.held, v.seen = Actual{}, true
		return
	}
	if v.backingOff(now) {
		return
	}
	held, err := c.Actuator.Observe(ctx, v.WarmPool)
	if err != nil {
		c.recordError(v, err, now)
		return
	}
	v.held, v.seen = held, true
}

// hold applies what is wanted: if it has changed, if it was not applied for a while, and at every step while chunks are missing. It marks
// the pool first. message is the message of the plan.
func (c *Controller) hold(ctx context.Context, now time.Time, v *poolStep, want Desired, message string) {
	capacity := v.capacity()
	due := v.attempted != v.Generation || v.err != nil || !v.requested(want) || capacity.Ready < capacity.Held ||
		now.Sub(v.heldAt) >= renewSteps*c.interval
	if !due || v.backingOff(now) || !v.seen {
		return
	}
	v.attempted = v.Generation
	switch err := c.mark(ctx, v, true); {
	case writes.IsStale(err):
		v.attempted = 0 // The next step reads the changed pool.
		return
	case err != nil:
		c.recordError(v, err, now)
		return
	}
	held, err := c.Actuator.Hold(ctx, v.WarmPool, want)
	if err != nil {
		c.recordError(v, err, now)
		return
	}
	if want != v.want {
		c.changed = append(c.changed, *v)
		if !v.heldAt.IsZero() {
			c.emitEvent(v.Pool, corev1.EventTypeNormal, "Resized", message)
		}
	}
	v.clearError()
	v.held, v.want, v.heldAt = held, want, now
}

// backingOff reports whether an attempt with this spec failed and it is too early to retry.
func (v *poolStep) backingOff(now time.Time) bool {
	return v.attempted == v.Generation && now.Before(v.retry)
}

// requested reports whether the actuator already holds exactly what is wanted.
func (k *poolState) requested(want Desired) bool {
	if k.want != want || len(k.held.Types) == 0 {
		return false
	}
	asked := Desired{Base: int(k.held.Types[0].Held)}
	for _, t := range k.held.Types[1:] {
		asked.Tail += int(t.Held)
	}
	return asked == want
}

// mark records on the object whether the pool may hold something, if that is not recorded yet.
func (c *Controller) mark(ctx context.Context, v *poolStep, holds bool) error {
	if v.marked(holds) {
		return nil
	}
	after, err := c.Pools.Mark(ctx, v.Pool, holds)
	switch {
	case apierrors.IsForbidden(err):
		return problem(
			v1alpha1.PoolReasonForbidden,
			"Forewarm lacks permissions for mode %s: apply deploy/warm-pools, set "+
				"warmPools.enforce in the chart, or check the admission policies: %s",
			v1alpha1.PoolEnforce,
			err,
		)
	case err != nil:
		return fmt.Errorf("mark what the pool holds: %w", err)
	}
	v.Pool = after
	return nil
}

// release releases what a pool holds, and records that on the object.
func (c *Controller) release(ctx context.Context, now time.Time, v *poolStep) error {
	if !v.mayHold() {
		v.clearError()
		v.held, v.seen = Actual{}, true
		return nil
	}
	if v.backingOff(now) {
		return nil
	}
	if err := c.Actuator.Release(ctx, v.WarmPool); err != nil {
		c.recordError(v, err, now)
		return fmt.Errorf("release what the pool holds: %w", err)
	}
	message := "The pool released everything that it held"
	if lostScale(v.WarmPool) {
		message = "The pool left the replicas of its target unchanged, because it does not know how many there were before"
	}
	if err := c.mark(ctx, v, false); err != nil {
		if writes.IsStale(err) {
			return nil // The next step sees the changed pool.
		}
		c.recordError(v, err, now)
		return err
	}
	v.clearError()
	v.held, v.attempted, v.want, v.heldAt = Actual{}, 0, Desired{}, time.Time{}
	c.emitEvent(v.Pool, corev1.EventTypeNormal, "Released", message)
	return nil
}

const (
	// yieldTime is long enough for a scheduler to place the waiting pods.
	yieldTime = 2 * time.Minute
	// yieldEvery is how often the pool yields again.
	yieldEvery = 10 * yieldTime
)

// yield lowers the number of placeholder pods by the chunks that the members' replicas wait for, if the scheduler does not preempt
// placeholders. Otherwise the pool would withhold the capacity that it holds for its members. A Deployment that shrinks deletes pending
// pods first, so these are subtracted too.
//
// The template does not always show whether the scheduler preempts: a DeviceClass can represent nvidia.com/gpu. So the pool also yields
// if replicas wait at two steps in a row although the pool is full. If the same replicas wait for longer than yieldTime, they wait for
// something else. The pool then yields to them only for yieldTime in every yieldEvery.
func (v *poolStep) yield(now time.Time, want Desired, members []warmpool.Member) Desired {
	c, waiting, before := v.capacity(), 0.0, v.waiting
	for _, m := range members {
		waiting += m.Chunks * float64(m.Waiting)
	}
	if waiting != before {
		v.waiting, v.waitingSince = waiting, now
	}
	if waiting == 0 || c.Ready == 0 || v.Spec.Actuator.PlaceholderPods == nil ||
		now.Sub(v.waitingSince)%yieldEvery > yieldTime ||
		isPreempted(&v.Spec.Chunk.PodTemplate.Spec) && (before == 0 || c.Ready < c.Held) {
		return want
	}
	less := int(math.Ceil(waiting)) + c.Held - c.Ready
	tail := min(less, want.Tail)
	return Desired{Base: max(0, want.Base-(less-tail)), Tail: want.Tail - tail}
}

// isPreempted reports whether kube-scheduler preempts placeholder pods of a template to free the devices that they hold. It does not do so
// for devices that pods claim (Kubernetes 1.36; KEP-5690 will change that). It does not do so either for shares of GPUs from a scheduler
// extender, because it does not ask extenders which victims would help (kubernetes/kubernetes#139270).
func isPreempted(spec *corev1.PodSpec) bool {
	if len(templateClaims(spec.ResourceClaims)) > 0 {
		return false
	}
	for name := range chunkResources(spec).Requests {
		if manifest.SharedByExtender(name) {
			return false
		}
	}
	return true
}
