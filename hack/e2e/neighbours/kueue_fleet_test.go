package neighbours_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// firstQuota has too few GPUs for the member's day.
const firstQuota, fullQuota = 40, 48

// fleetQueues: the quota is the sum of two flavors. A pod of higher priority would preempt a job, as the safety net.
var fleetQueues = fmt.Sprintf(`
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: owned}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: rented}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpus}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - {name: owned, resources: [{name: nvidia.com/gpu, nominalQuota: "32"}]}
        - {name: rented, resources: [{name: nvidia.com/gpu, nominalQuota: "%d"}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: fleet}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus, namespace: fleet}
spec: {clusterQueue: gpus}`, firstQuota-32)

// fleetMember is a workload of the queue, with its Forecast and its HPA.
const fleetMember = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: fleet}
spec:
  replicas: 4
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat, kueue.x-k8s.io/queue-name: gpus}, annotations: {start.e2e/delay: 5s}}
    spec:
      terminationGracePeriodSeconds: 0
      priorityClassName: serving
      containers: [{name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}]
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: chat, namespace: fleet}
spec:
  targetRef: {kind: Deployment, name: chat}
  signal: {query: sum(inflight)}
  step: 15s
  history: 3d
  quantile: "0.95"
  leadTime: {mode: Fixed, duration: 30s}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: fleet}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  maxReplicas: 48
  metrics:
    - {type: Object, object: {describedObject: {apiVersion: forewarm.dev/v1alpha1, kind: Forecast, name: chat},
        metric: {name: demand}, target: {type: AverageValue, averageValue: "10"}}}`

// kueueFleet is a stage with Kueue, KEDA and a fleet.
type kueueFleet struct {
	*stage
	*clustertest.Fleet
}

// TestFleetWithKueue: a fleet has the quota of the real Kueue. The real KEDA creates Jobs by its metric, and Kueue admits them to the GPUs
// that the member leaves. When the demand of the member rises as it does every day, the Jobs have ended: none was preempted, and no replica
// waited.
func TestFleetWithKueue(t *testing.T) {
	f := &kueueFleet{stage: &stage{}}
	f.Cluster, _ = setUp(t, "FOREWARM_KUEUE",
		clustertest.Options{KEDA: true, Sync: 2 * time.Second, Stabilization: time.Second})
	f.begin = time.Now()
	// The history has cells of five minutes, and fewer jobs start from two cells before the rise on. So they have three minutes to fill the
	// GPUs before, or more.
	const before, cell, step, past = 13 * time.Minute, 5 * time.Minute, 15 * time.Second, 73 * time.Hour
	rise := f.begin.Add(before).Truncate(cell).Add(cell)
	var demand []float64
	for at := -past; at < time.Hour; at += step {
		demand = append(demand, clustertest.FleetDemand(rise, rise.Add(at)))
	}
	series := map[string][]float64{`inflight{namespace="fleet"}`: demand}
	if err := f.WriteSeries(t.Context(), rise.Add(-past), step, series); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	f.Fill(t, firstQuota)
	f.MustKubectl(t, "patch", "clusterqueue/gpus", "--type=json", "-p", fmt.Sprintf(`[{"op": "replace", "value": "%d",
		"path": "/spec/resourceGroups/0/flavors/1/resources/0/nominalQuota"}]`, fullQuota-32))
	f.Fill(t, fullQuota)
	f.Ramp(t, rise, 2*time.Minute, 10*time.Second, fullQuota)
	f.ended(t)
}

// start starts Kueue, Prometheus and Forewarm, and creates the fleet.
func (f *kueueFleet) start(t *testing.T) {
	t.Helper()
	if err := f.StartKueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.MustApply(t, fleetQueues)
	prometheus, err := f.StartPrometheus(t.Context(), "global: {}")
	if err != nil {
		t.Fatal(err)
	}
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.MustKubectl(t, "apply", "--server-side", "-k", "deploy/fleets")
	if err = f.Install(t.Context(), "deploy/with-keda-scaler"); err != nil {
		t.Fatal(err)
	}
	scaler := fmt.Sprintf("127.0.0.1:%d", port)
	f.forewarm, err = f.StartForewarm(t.Context(), "forewarm", "--prometheus-url="+prometheus.URL,
		"--keda-address="+scaler, "--fleets", "--fleet-cluster-queues")
	if err != nil {
		t.Fatal(err)
	}
	if err = f.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.MustApply(t, clustertest.ServingPriority, fleetMember)
	f.Fleet = f.MustCreateFleet(t, "{clusterQueue: {name: gpus}}", "{kueue.x-k8s.io/queue-name: gpus}", scaler)
	f.log(t, "everything is started")
}

// queueWorkload is the part of Kueue's Workload that is read.
type queueWorkload struct {
	Metadata metav1.ObjectMeta
	Status   struct{ Conditions []metav1.Condition }
}

// admitted returns the names of the Jobs that Kueue admitted to the queue. A Job that it evicted is an error of the test.
func (f *kueueFleet) admitted(t *testing.T) map[string]bool {
	t.Helper()
	var list struct{ Items []queueWorkload }
	text := f.MustKubectl(t, "get", "workloads.kueue.x-k8s.io", "-n", "fleet", "-o", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, w := range list.Items {
		owner := metav1.GetControllerOf(&w.Metadata)
		if owner == nil || owner.Kind != "Job" {
			continue
		}
		for _, c := range w.Status.Conditions {
			switch {
			case c.Status != metav1.ConditionTrue:
			case c.Type == "Admitted":
				out[owner.Name] = true
			case c.Type == "Evicted" || c.Type == "Preempted":
				t.Errorf("Kueue evicted the job %s: %s", owner.Name, c.Message)
			}
		}
	}
	return out
}

// ended: Kueue has admitted all jobs, and many of them have finished their work.
func (f *kueueFleet) ended(t *testing.T) {
	t.Helper()
	jobs, admitted, done := f.Jobs(t), f.admitted(t), 0
	for i := range jobs {
		if !admitted[jobs[i].Name] {
			t.Errorf("Kueue has not admitted the job %s", jobs[i].Name)
		}
		done += int(jobs[i].Status.Succeeded)
	}
	if done < 2*fullQuota {
		t.Errorf("%d jobs finished, want many more", done)
	}
	f.log(t, "%d of %d jobs have finished, and Kueue has preempted none", done, len(jobs))
}
