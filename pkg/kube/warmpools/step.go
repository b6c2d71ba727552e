package warmpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/actuator"
)

// visit is a pool at a step, and what is known of it.
type visit struct {
	*Pool
	*course
	claims claims
}

// step keeps one pool. An error is one that passes, or that is in the status as well.
func (c *Controller) step(ctx context.Context, now time.Time, newest *snapshot.Snapshot, v visit) (gauge, error) {
	switch {
	case v.DeletionTimestamp != nil:
		return gaugeOf(&v, nil), c.leave(ctx, now, v)
	case v.Problem != "":
		return gaugeOf(&v, nil), c.write(ctx, now, &v, invalid(v.Pool, now))
	}
	r := c.call(now, newest, v.Pool, v.claims)
	l := c.leadOf(now, newest, v.Pool)
	var kept error
	if v.enforced() {
		c.look(ctx, now, &v)
	} else {
		kept = c.giveBack(ctx, now, &v)
	}
	asked := v.Resolved.Pool
	asked.Pod, asked.Node = l.pod, l.node
	plan, memory := v.memory.Plan(now, asked, r.members, v.capacity())
	v.memory = memory
	if v.enforced() {
		c.hold(ctx, now, &v, plan)
	}
	s := said{visit: v, plan: plan, roll: r, lead: l, notice: notice * c.pace}
	return gaugeOf(&v, &plan), errors.Join(kept, c.write(ctx, now, &v, s.status(now)))
}

// capacity is what the pool holds, as it was last seen: by another leader, where this one could not look yet.
func (v *visit) capacity() warmpool.Capacity {
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

// look finds out what there is, where nothing is in the way.
func (c *Controller) look(ctx context.Context, now time.Time, v *visit) {
	if !v.holds() {
		v.held, v.seen = actuator.Held{}, true
		return
	}
	if v.resting(now) {
		return
	}
	held, err := c.Actuator.Look(ctx, v.WarmPool)
	if err != nil {
		c.failed(v, err, now)
		return
	}
	v.held, v.seen = held, true
}

// hold has what is planned held, where it is not, or has not been looked after for a while. The finalizer comes first.
func (c *Controller) hold(ctx context.Context, now time.Time, v *visit, plan warmpool.Plan) {
	want := actuator.Want{Base: plan.Want}
	if v.Resolved.Pool.Split {
		want = actuator.Want{Base: plan.Base, Tail: plan.Tail}
	}
	due := v.attempted != v.Generation || v.fault != nil || !v.asks(want) || now.Sub(v.at) >= renewal*c.pace
	if !due || v.resting(now) || !v.seen {
		return
	}
	v.attempted = v.Generation
	switch err := c.finalize(ctx, v, true); {
	case changed(err):
		v.attempted = 0 // The next step sees the pool as it is.
		return
	case err != nil:
		c.failed(v, err, now)
		return
	}
	held, err := c.Actuator.Hold(ctx, v.WarmPool, want)
	if err != nil {
		c.failed(v, err, now)
		return
	}
	resized := !v.at.IsZero() && want != v.want
	v.mended()
	v.held, v.want, v.at = held, want, now
	if resized {
		c.tell(v.Pool, news{reason: "Resized", message: plan.Why})
	}
}

// resting says that the spec was attempted in vain, and that it is too early to try again.
func (v *visit) resting(now time.Time) bool {
	return v.attempted == v.Generation && now.Before(v.retry)
}

// asks says whether the actuator was asked for just that.
func (k *course) asks(want actuator.Want) bool {
	if k.want != want || len(k.held.Types) == 0 {
		return false
	}
	asked := actuator.Want{Base: int(k.held.Types[0].Held)}
	for _, t := range k.held.Types[1:] {
		asked.Tail += int(t.Held)
	}
	return asked == want
}

// changed says that a pool changed or went since the watch saw it.
func changed(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// finalize puts the finalizer on, or takes it off, where that is to be done.
func (c *Controller) finalize(ctx context.Context, v *visit, on bool) error {
	if v.holds() == on {
		return nil
	}
	after, err := c.Pools.Finalize(ctx, v.Pool, on)
	switch {
	case apierrors.IsForbidden(err):
		return &actuator.Problem{Reason: "Forbidden", Message: fmt.Sprintf(
			"mode %s needs rights that are not given: apply deploy/warm-pools: %s", v1alpha1.PoolEnforce, err)}
	case err != nil:
		return fmt.Errorf("mark the pool with its finalizer: %w", err)
	}
	v.Pool = after
	return nil
}

// giveBack releases what a pool holds, and takes its finalizer off.
func (c *Controller) giveBack(ctx context.Context, now time.Time, v *visit) error {
	if !v.holds() {
		v.mended()
		v.held, v.seen = actuator.Held{}, true
		return nil
	}
	if v.resting(now) {
		return nil
	}
	if err := c.Actuator.Release(ctx, v.WarmPool); err != nil {
		c.failed(v, err, now)
		return fmt.Errorf("give back what it holds: %w", err)
	}
	if err := c.finalize(ctx, v, false); err != nil {
		if changed(err) {
			return nil // The next step sees the pool as it is.
		}
		return err
	}
	v.mended()
	v.held, v.attempted, v.want, v.at = actuator.Held{}, 0, actuator.Want{}, time.Time{}
	c.tell(v.Pool, news{reason: "Released", message: "what the pool held was given back"})
	return nil
}

// leave gives back what a pool that is to be deleted holds. Where that fails the status says why.
func (c *Controller) leave(ctx context.Context, now time.Time, v visit) error {
	if !v.holds() {
		return nil
	}
	if err := c.giveBack(ctx, now, &v); err != nil {
		return c.write(ctx, now, &v, stuck(v.Pool, now, err))
	}
	return nil
}
