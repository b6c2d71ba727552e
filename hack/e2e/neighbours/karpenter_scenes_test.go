package neighbours_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// surge: real pods preempt placeholders, and no node is made for those that the plan does not want again. Until then
// Karpenter has not consolidated the nodes, which only placeholders are on.
func (s *karpenterScene) surge(t *testing.T) {
	t.Helper()
	next := s.nextSurge(time.Now())
	s.log(t, "the surge is %.0f s ahead", time.Until(next).Seconds())
	time.Sleep(time.Until(next) - 5*time.Second)
	s.waitPool(t, warm, "full", full(4))
	if late := time.Since(next); late > 0 {
		s.log(t, "the pool was full %s after the surge: the next one counts", late)
		s.surge(t)
		return
	}
	for _, ns := range []string{packed, limited, buffered} {
		if made, now := s.counted(ns); made != now {
			t.Errorf("%s: %d of %d node claims are left: Karpenter has taken the pool's nodes", ns, now, made)
		}
	}
	before, _ := s.counted(warm)
	from := time.Now()
	clustertest.MustEventually(t, func() string {
		for _, ns := range []string{warm, without} {
			if took, _, left := s.started(ns, from); len(took) != 4 || left > 0 {
				return fmt.Sprintf("%s: %d of 4 starts", ns, len(took))
			}
		}
		return ""
	})
	time.Sleep(2 * karpenterStep) // Claims would be there by now.
	after, now := s.counted(warm)
	with, held, _ := s.started(warm, from)
	alone, _, _ := s.started(without, from)
	s.log(t, "with a pool replicas were ready after %s, %d of 4 in place of a placeholder", with, held)
	s.log(t, "without a pool replicas were ready after %s", alone)
	s.log(t, "%d node claims were made before the surge, %d in it; there are %d", before, after-before, now)
	if after != before || now != 5 {
		t.Errorf("%d node claims were made in the surge, there are %d, want none and 5:\n%s", after-before, now,
			s.courseOf(warm))
	}
	if held < 3 || with[3] >= alone[3] {
		t.Errorf("%d of 4 replicas took a placeholder's place: ready after %s, without a pool %s", held, with, alone)
	}
}

// refused: a limit of a node pool and nodes that never register are reported, with advice, and make no more nodes.
func (s *karpenterScene) refused(t *testing.T) {
	t.Helper()
	for ns, want := range map[string]int{limited: 2, lost: 2} {
		s.waitCondition(t, ns, v1alpha1.PoolReasonBlocked, "below its limits", "new nodes register", "kubectl describe")
		if made, now := s.counted(ns); made != want || now != want {
			t.Errorf("%s: %d node claims were made and %d are left, want %d", ns, made, now, want)
		}
		if p := s.status(ns); p.Held > p.Wanted {
			t.Errorf("%s: %d chunks are held, %d are wanted", ns, p.Held, p.Wanted)
		}
	}
}

// take: a replica starts on a node that a CapacityBuffer holds, and Karpenter makes another for the buffer.
func (s *karpenterScene) take(t *testing.T) {
	t.Helper()
	from := time.Now()
	s.MustKubectl(t, "scale", "deployment", "llama", "-n", buffered, "--replicas=1")
	s.waitPool(t, buffered, "taken", func(p v1alpha1.WarmPoolStatus) bool { return p.Held == 2 && p.Ready < 2 })
	s.waitPool(t, buffered, "full again", func(p v1alpha1.WarmPoolStatus) bool {
		return full(2)(p) && s.nodes(t, buffered) == 3
	})
	took, _, left := s.started(buffered, from)
	if len(took) != 1 || left > 0 || took[0] > 15*time.Second {
		t.Fatalf("%s: the replica was ready after %s, and %d are not", buffered, took, left)
	}
	s.log(t, "%s: the replica was ready after %s", buffered, took)
}

// shrink: what a pool does not want any more, Karpenter consolidates; what it wants stays.
func (s *karpenterScene) shrink(t *testing.T) {
	t.Helper()
	s.log(t, "%s: on %v", packed, s.claimNames(packed))
	s.MustPatch(t, packed, "warmpool/pool", `{"spec": {"min": 1}}`)
	began := time.Now()
	clustertest.MustEventually(t, func() string {
		gpus := s.MustKubectl(t, "get", "nodes", "-l", shape+"="+packed, "-o",
			`jsonpath={.items[*].status.allocatable.nvidia\.com/gpu}`)
		if p := s.status(packed); gpus != "1" || p.Held != 1 || p.Ready != 1 {
			return fmt.Sprintf("%s: nodes of %s GPUs, %d chunks are held, %d ready", packed, gpus, p.Held, p.Ready)
		}
		return ""
	})
	s.log(t, "%s: one node of one GPU %.0f s after the pool shrank to one chunk", packed, time.Since(began).Seconds())
}

// interrupt: base and tail are on nodes of their capacity types. One of each is interrupted, and replaced.
func (s *karpenterScene) interrupt(t *testing.T) {
	t.Helper()
	var victims []string
	s.waitPool(t, tiers, "as planned", func(p v1alpha1.WarmPoolStatus) bool {
		victims = nil
		for _, kind := range p.ByCapacityType {
			claims := s.claimNames(tiers + "-" + kind.Name)
			if kind.Held < 1 || kind.Ready != kind.Held || len(claims) < int(kind.Held) {
				return false
			}
			victims = append(victims, claims[0])
		}
		return len(victims) == 2
	})
	s.log(t, "%s: %+v", tiers, s.status(tiers).ByCapacityType)
	s.MustKubectl(t, append([]string{"delete", "nodeclaims"}, victims...)...)
	began := time.Now()
	s.waitPool(t, tiers, "full again after an interruption", func(p v1alpha1.WarmPoolStatus) bool {
		now := slices.Concat(s.claimNames(tiers+"-base"), s.claimNames(tiers+"-tail"))
		return full(2)(p) && !slices.Contains(now, victims[0]) && !slices.Contains(now, victims[1])
	})
	s.log(t, "%s: after %.0f s", tiers, time.Since(began).Seconds())
}

// restart: Karpenter is killed. What is held stays, and after its restart a pool grows.
func (s *karpenterScene) restart(t *testing.T) {
	t.Helper()
	s.karpenter.Kill()
	s.MustPatch(t, packed, "warmpool/pool", `{"spec": {"min": 2}}`)
	s.waitPool(t, packed, "held while Karpenter is away", func(p v1alpha1.WarmPoolStatus) bool {
		return p.Held == 2 && p.Ready == 1
	})
	time.Sleep(2 * karpenterStep)
	if p := s.status(packed); p.Held != 2 || p.Ready != 1 {
		t.Errorf("%s: %d held, %d ready while Karpenter is away", packed, p.Held, p.Ready)
	}
	if err := s.karpenter.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.waitPool(t, packed, "full after Karpenter's restart", full(2))
}

// refill: before the next surge the pool is full again.
func (s *karpenterScene) refill(t *testing.T) {
	t.Helper()
	s.waitPool(t, warm, "full again", full(4))
	idle, nodes := s.hours(warm)
	_, alone := s.hours(without)
	s.log(t, "GPU-hours: %.3f idle of %.3f with a pool, %.3f without", idle, nodes, alone)
}
