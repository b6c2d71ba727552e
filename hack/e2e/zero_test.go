package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// zeroCycle is the time between two pulses. The lead window is 86 s. A workload is awake from two windows before a pulse until two after it,
// so it sleeps for about a minute and a half.
const zeroCycle = 460 * time.Second

// zeroKinds are the objects that explain what became of a workload.
const zeroKinds = "outlooks,forecasts,hpa"

// TestFromZero: a stock HPA scales workloads to zero and back, by a signal that a gateway reports and by one that only replicas report.
// Each HPA has a second metric that does not need Forewarm, which must not keep its workload awake.
func TestFromZero(t *testing.T) {
	t.Parallel()
	cycles, err := strconv.Atoi(os.Getenv("FOREWARM_ZERO"))
	if err != nil {
		t.Skip("FOREWARM_ZERO is not a number of cycles: run `make e2e-zero`")
	}
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	times := schedule{time.Now().Add(-2 * pulse), zeroCycle}
	past := map[string][]float64{}
	for _, name := range []string{behindGateway, onItsOwn} {
		past[fmt.Sprintf("inflight{namespace=\"asleep\",app=%q}", name)] = times.demand(time.Now().Add(-6*zeroCycle),
			int(6*zeroCycle/time.Second))
	}
	s.writeSeries(t, time.Second, past)
	s.observe(t)
	s.servePodMetrics(t)
	s.forewarm(t, "deploy/default", 1)
	s.MustApply(t, namespace("asleep"))
	for _, name := range []string{behindGateway, onItsOwn} {
		t.Run(name, func(t *testing.T) { t.Parallel(); s.stockHPAFromZero(t, name, times, cycles) })
	}
}

// hpaToZero is an HPA of a Deployment, from 0 to 20 replicas.
func hpaToZero(name string, metrics ...string) string {
	text := hpa("asleep", name, name, metrics...)
	return strings.Replace(text, "  maxReplicas", "  minReplicas: 0\n  maxReplicas", 1)
}

// stockHPAFromZero: in each cycle, a workload is ready before the first request, and at zero again after the last one.
func (s *stage) stockHPAFromZero(t *testing.T, name string, times schedule, cycles int) {
	t.Helper()
	var silent atomic.Bool
	s.demand.follow("asleep", name, times.reported(name, &silent))
	s.MustApply(t, workload("asleep", name, "5s", 1),
		forecastOf("asleep", name, "leadTime: {mode: Fixed, duration: 10s}", "seasons: ["+zeroCycle.String()+"]"),
		hpaToZero(name, external(name, ""), pods))
	asleep, ready, done, awake := time.Time{}, time.Duration(0), 0, time.Now()
	for deadline := time.Now().Add(time.Duration(cycles+2) * zeroCycle); time.Now().Before(deadline); time.Sleep(time.Second) {
		now, until := s.zeroScaleState(t, name), times.until(time.Now())
		silent.Store(now.replicas == "0")
		switch {
		case now.replicas == "0" && until == 0:
			t.Fatalf("at zero during a pulse: %+v\n%s", now, s.get(t, zeroKinds, "-n", "asleep", "-o", "wide"))
		case now.replicas == "0" && asleep.IsZero():
			asleep = time.Now()
			t.Logf("at zero %.0f s after a pulse, awake for %.0f s",
				(zeroCycle - until - pulse).Seconds(), time.Since(awake).Seconds())
			if ready > 0 {
				done++
			}
			if done == cycles {
				return
			}
		case !asleep.IsZero() && now.ready && until > 0:
			ready, asleep, awake = until, time.Time{}, time.Now()
			t.Logf("ready %.0f s before the first request", ready.Seconds())
		}
	}
	t.Fatalf("%d of %d cycles: %s", done, cycles, s.get(t, zeroKinds, "-n", "asleep", "-o", "wide"))
}

// TestStuckAtZero: an HPA that did not scale its workload to zero does not wake it, and neither does one whose feature gate was turned off.
// Forewarm reports both.
func TestStuckAtZero(t *testing.T) {
	t.Parallel()
	const recreated, gated = "recreated", "gated"
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	s.writePast(t, workloadKey{"asleep", gated}, time.Second, make([]float64, 600))
	s.demand.set("asleep", gated, 0)
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	s.MustApply(t, namespace("asleep"),
		workload("asleep", gated, "5s", 1), forecastOf("asleep", gated), hpaToZero(gated, external(gated, "")),
		workload("asleep", recreated, "5s", 0), forecastOf("asleep", recreated))
	s.demand.set("asleep", recreated, 25)
	s.MustApply(t, hpaToZero(recreated, external(recreated, "")))
	s.stuckAtZero(t, recreated)

	s.scaled(t, "asleep", gated, 0)
	if err := s.RestartControllerManager("--feature-gates=HPAScaleToZero=false"); err != nil {
		t.Fatal(err)
	}
	s.demand.set("asleep", gated, 25)
	s.stuckAtZero(t, gated)
}

// stuckAtZero: within two minutes, Forewarm reports that an HPA does not wake its workload of three replicas, and no longer once the
// workload has been scaled to 1.
func (s *stage) stuckAtZero(t *testing.T, name string) {
	t.Helper()
	begun := time.Now()
	reported := func(t *testing.T) string {
		t.Helper()
		return s.get(t, "forecast", name, "-n", "asleep", "-o",
			`jsonpath={.status.conditions[?(@.type=="AutoscalersActive")].reason}`)
	}
	expect(t, "the condition AutoscalersActive", reported, "DisabledAtZero")
	took := time.Since(begun)
	t.Logf("%s: reported after %.0f s", name, took.Seconds())
	if took > 2*time.Minute {
		t.Error("that is more than two minutes")
	}
	s.MustKubectl(t, "scale", "--replicas=1", "deployment/"+name, "-n", "asleep")
	s.scaled(t, "asleep", name, 3)
	expect(t, "the condition AutoscalersActive", reported, "")
}
