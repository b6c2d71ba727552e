package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The time from the beginning of the test to the rise of the demand, and the same if the rise is not waited for.
const forRamp, forShort = 18 * time.Minute, 40 * time.Minute

// TestFleet: a KEDA ScaledJob uses the GPUs that a member leaves of all GPUs of the cluster, by the metric of a GPUFleet. While Forewarm is
// away, no job starts. With FOREWARM_FLEET the member's demand rises as it does every day: no job is killed, and no replica of the member
// waits for a GPU.
func TestFleet(t *testing.T) {
	t.Parallel()
	ahead := forShort
	if os.Getenv("FOREWARM_FLEET") != "" {
		ahead = forRamp
	}
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second, KEDA: true})
	rise := time.Now().Add(ahead)
	const step = 15 * time.Second
	past, now := make([]float64, int(3*24*time.Hour/step)), time.Now()
	for i := range past {
		past[i] = clustertest.FleetDemand(rise, now.Add(-time.Duration(len(past)-i)*step))
	}
	s.writePast(t, workloadKey{"fleet", "chat"}, step, past)
	s.demand.follow("fleet", "chat", func() float64 { return clustertest.FleetDemand(rise, time.Now()) })
	s.observe(t)
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scaler := fmt.Sprintf("127.0.0.1:%d", port)
	s.MustKubectl(t, "apply", "--server-side", "-k", "deploy/fleets")
	s.forewarm(t, "deploy/with-keda-scaler", 1, "--keda-address="+scaler, "--fleets", "--fleet-nodes")
	s.MustApply(t, namespace("fleet"), clustertest.ServingPriority, fleetMember())
	f := s.MustCreateFleet(t, `{nodeSelector: {nvidia.com/gpu.present: "true"}}`, "{}", scaler)
	s.scaled(t, "fleet", "chat", clustertest.NightReplicas)
	f.Fill(t, clustertest.GPUs)
	readFleet(t, f)
	s.awayFromFleet(t, f)
	if ahead == forRamp {
		f.Ramp(t, rise, 4*time.Minute, 5*time.Second, clustertest.GPUs)
	} else {
		t.Log("the rise is not waited for: run `make e2e-fleet`")
	}
}

// fleetMember is a workload, its Forecast, and its HPA by the Object metric.
func fleetMember() string {
	const grace = "      terminationGracePeriodSeconds: 0"
	return strings.Join([]string{
		strings.Replace(workload("fleet", "chat", "5s", clustertest.NightReplicas), grace,
			grace+"\n      priorityClassName: serving", 1),
		forecastOf("fleet", "chat", "step: 15s", "history: 3d", "leadTime: {mode: Fixed, duration: 30s}"),
		strings.Replace(hpa("fleet", "chat", "chat", object("chat")), "maxReplicas: 20", "maxReplicas: 60", 1),
	}, "\n---\n")
}

// readFleet: only listed consumers get a number, and the object explains itself.
func readFleet(t *testing.T, f *clustertest.Fleet) {
	t.Helper()
	if _, err := f.Spare(t, "unknown"); err == nil || !strings.Contains(err.Error(), "embeddings") {
		t.Errorf("an unlisted reader gets %v, want an error that lists the consumers", err)
	}
	for condition, want := range map[string]string{
		"Ready": "True", "MembersResolved": "True", "CapacityKnown": "True", "BatchSafe": "True", "Shortage": "False",
	} {
		expect(t, condition, func(t *testing.T) string {
			t.Helper()
			return f.Status(t, fmt.Sprintf("conditions[?(@.type==%q)].status", condition))
		}, want)
	}
}

// awayFromFleet: while Forewarm is away, jobs end and no job starts. Afterwards jobs start again.
func (s *stage) awayFromFleet(t *testing.T, f *clustertest.Fleet) {
	t.Helper()
	s.replicas[0].Kill()
	time.Sleep(15 * time.Second) // KEDA may have begun to start jobs.
	before := len(f.Jobs(t))
	time.Sleep(clustertest.JobLength + 15*time.Second)
	if after := len(f.Jobs(t)); after > before {
		t.Errorf("%d jobs were started while Forewarm was away", after-before)
	}
	if running := len(f.Pods(t)["embeddings"]); running > 0 {
		t.Errorf("%d jobs still run after %s", running, clustertest.JobLength)
	}
	if err := s.replicas[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Fill(t, clustertest.GPUs)
	f.Jobs(t)
}
