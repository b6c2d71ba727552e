package neighbours_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The demand of the namespaces with surges: a replica sustains 10, so one is needed, and five in a surge.
const (
	calm, surge = 8.0, 48.0
	cycle       = 180 * time.Second
	pulse       = 60 * time.Second
	// cyclesBefore are in the history, cyclesAfter in the test.
	cyclesBefore, cyclesAfter = 9, 8
)

// The namespaces, each with a workload, a warm pool and node pools of its own.
const (
	warm     = "warm"     // placeholders before a surge
	without  = "without"  // the same surge without a warm pool
	limited  = "limited"  // the node pool has a limit of two GPUs
	lost     = "lost"     // nodes never register
	buffered = "buffered" // a CapacityBuffer
	packed   = "packed"   // nodes of one GPU and of four
	tiers    = "tiers"    // on demand and spot
	measured = "measured" // its starts are measured
)

// demands returns the demand of each namespace, from the time of a surge on, with a sample every second.
func demands() map[string][]float64 {
	out := map[string][]float64{}
	random, level := rand.New(rand.NewPCG(1, 2)), 0.0 //nolint:gosec // The same in each run.
	for i := range int((cyclesBefore + cyclesAfter) * cycle / time.Second) {
		value := calm
		if time.Duration(i)*time.Second%cycle < pulse {
			value = surge
		}
		if i%10 == 0 { // Its peaks vary: the median of the next two minutes' is far below their 0.975 quantile.
			level = 36 * math.Exp(0.5*random.NormFloat64())
		}
		for ns, v := range map[string]float64{
			warm: value, without: value, tiers: level,
			limited: calm, lost: calm, buffered: calm, packed: calm, measured: calm,
		} {
			series := fmt.Sprintf("inflight{namespace=%q}", ns)
			out[series] = append(out[series], v)
		}
	}
	return out
}

// karpenterScene is a stage with Karpenter and what is observed on it.
type karpenterScene struct {
	*stage
	*karpenterWatch
	// surges is the time of a surge; there is one in each cycle.
	surges time.Time
}

// TestKarpenter: warm pools and the real Karpenter, whose kwok provider makes nodes that register late.
func TestKarpenter(t *testing.T) {
	surges := time.Now().Add(-cyclesBefore*cycle + 190*time.Second).Truncate(time.Second)
	stage := setUpStage(t, "FOREWARM_KARPENTER", clustertest.Options{Bare: true}, surges, demands())
	s := &karpenterScene{stage: stage, karpenterWatch: stage.watch(t), surges: surges}
	s.arrive(t)
	s.fill(t)
	s.surge(t)
	s.start(t, 10)
	s.refused(t)
	s.take(t)
	s.shrink(t)
	s.leadTimes(t)
	s.interrupt(t)
	s.restart(t)
	s.refill(t)
}

// arrive: pools are planned without Karpenter and its CRDs, and report what is missing. Then Karpenter comes.
func (s *karpenterScene) arrive(t *testing.T) {
	t.Helper()
	const lead = "leadTime: {mode: Fixed, duration: 30s}"
	for _, ns := range []string{warm, without} {
		s.MustApply(t, karpenterWorkload(ns, 1, fixedLead), hpa(ns))
	}
	for _, ns := range []string{limited, lost, buffered, packed} {
		s.MustApply(t, karpenterWorkload(ns, 0, fixedLead, target))
	}
	// What is served is base capacity: the autoscalers ask for it at once.
	s.MustApply(t, karpenterWorkload(tiers, 1, fixedLead, target, "serve: Shadow"))
	s.MustApply(t, karpenterWorkload(measured, 0, target))
	s.MustApply(t, warmPool(warm, "max: 8", "mode: Enforce", lead),
		warmPool(limited, "min: 4", "max: 4", "mode: Enforce", lead),
		warmPool(lost, "min: 2", "max: 2", "mode: Enforce", lead),
		warmPool(buffered, "min: 2", "max: 4", "mode: Enforce", lead, "actuator: {capacityBuffer: {}}"),
		warmPool(packed, "min: 4", "max: 4", "mode: Enforce", lead),
		warmPool(tiers, "min: 1", "max: 20", "mode: Enforce", lead, `capacityTypes:
    - {name: base, nodeSelector: {karpenter.sh/capacity-type: on-demand}}
    - {name: tail, nodeSelector: {karpenter.sh/capacity-type: spot}}`),
		warmPool(measured, "max: 4"))
	s.waitPool(t, packed, "held without Karpenter", func(p v1alpha1.WarmPoolStatus) bool {
		return p.State == "Filling" && p.Held == 4 && p.Ready == 0
	})
	s.waitCondition(t, buffered, "CapacityBufferNotInstalled", "install the CRD")
	s.startKarpenter(t, nodeClass("slow", registration), nodeClass("never", "24h"),
		nodePool(warm, "slow", "[gpu-1x]", "on-demand"), nodePool(without, "slow", "[gpu-1x]", "on-demand"),
		nodePool(limited, "slow", "[gpu-1x]", "on-demand", `limits: {nvidia.com/gpu: "2"}`),
		nodePool(lost, "never", "[gpu-1x]", "on-demand"), nodePool(buffered, "slow", "[gpu-1x]", "on-demand"),
		nodePool(packed, "slow", "[gpu-1x, gpu-4x]", "on-demand"),
		// The greater weight does not win against what a pod requires.
		nodePool(tiers+"-base", "slow", "[gpu-1x]", "on-demand", "weight: 10"),
		nodePool(tiers+"-tail", "slow", "[gpu-1x]", "spot", "weight: 90"),
		nodePool(measured, "slow", "[gpu-1x]", "on-demand"))
}

// fill: Karpenter makes a node for each placeholder, and for each chunk of a CapacityBuffer.
func (s *karpenterScene) fill(t *testing.T) {
	t.Helper()
	s.waitPool(t, packed, "full", full(4))
	s.waitPool(t, limited, "at its limit", func(p v1alpha1.WarmPoolStatus) bool { return p.Held == 4 && p.Ready == 2 })
	s.waitPool(t, buffered, "full", func(p v1alpha1.WarmPoolStatus) bool {
		if p.Ready > 0 && s.nodes(t, buffered) < int(p.Ready) {
			t.Fatalf("%s: %d chunks are ready on %d nodes", buffered, p.Ready, s.nodes(t, buffered))
		}
		return p.Held == 2 && p.Ready == 2
	})
	s.waitPool(t, tiers, "full", func(p v1alpha1.WarmPoolStatus) bool { return full(2)(p) })
}

// nodes returns how many nodes of a namespace are ready.
func (s *karpenterScene) nodes(t *testing.T, ns string) int {
	t.Helper()
	return strings.Count(s.MustKubectl(t, "get", "nodes", "-l", shape+"="+ns, "-o",
		`jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`), "True")
}

// nextSurge is the first surge that begins after a time.
func (s *karpenterScene) nextSurge(after time.Time) time.Time {
	next := s.surges
	for !next.After(after) {
		next = next.Add(cycle)
	}
	return next
}
