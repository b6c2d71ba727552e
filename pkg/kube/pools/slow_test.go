package pools_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// webhook is a cluster whose webhook does not answer for the pools of a namespace.
type webhook struct {
	places

	// last is when a pool of another namespace was last looked at, longest the longest time between two such looks.
	last    time.Time
	longest time.Duration
}

func (w *webhook) Observe(ctx context.Context, p *v1alpha1.WarmPool) (pools.Actual, error) {
	if p.Namespace != "evil" {
		if !w.last.IsZero() {
			w.longest = max(w.longest, time.Since(w.last))
		}
		w.last = time.Now()
	}
	return w.places.Observe(ctx, p)
}

func (w *webhook) Hold(ctx context.Context, p *v1alpha1.WarmPool, want pools.Desired) (pools.Actual, error) {
	if p.Namespace == "evil" {
		time.Sleep(10 * time.Second)
		return pools.Actual{}, context.DeadlineExceeded
	}
	return w.places.Hold(ctx, p, want)
}

// TestANamespaceThatHangsDelaysNoOther: for fifty pools of a namespace each request takes ten seconds. The pool of another namespace has
// its steps.
func TestANamespaceThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hook := newWorld(), &webhook{places: places{held: map[string]pools.Desired{}}}
		w.leader = pools.NewController(pools.Config{}, pools.Dependencies{
			Pools: &w.stored, Snapshots: &w.snapshots, Workloads: w.loads, Actuator: hook,
		}, quiet())
		for i := range 50 {
			name := fmt.Sprintf("a%02d", i)
			w.stored.put(t, name, enforced)
			w.stored.objects[name].SetNamespace("evil")
		}
		w.stored.put(t, "h100", enforced)
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
			w.now = time.Now()
			w.publish()
			_ = w.leader.Step(t.Context(), w.now) //nolint:errcheck // That of the namespace that hangs.
			time.Sleep(max(0, 15*time.Second-time.Since(w.now)))
		}
		if hook.longest > time.Minute {
			t.Errorf("the pool of another namespace had no step for %s", hook.longest)
		}
		if hook.holds == 0 {
			t.Error("it was never held")
		}
	})
}
