package neighbours_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The fleet has the GPUs of a ClusterQueue, first too few of them. A replica of its member sustains 10, and every day its demand rises at
// the same time.
const (
	firstQuota, fullQuota      = 40, 48
	nightDemand, dayDemand     = 40.0, 400.0
	nightReplicas, dayReplicas = 4, 40
	// jobLength is how long a job takes; the fleet allows five minutes.
	jobLength = time.Minute
)

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
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: serving}
value: 1000
---
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

// fleetBatch is a fleet and a ScaledJob that always has more work than GPUs. Its Jobs get its label with the queue.
func fleetBatch(scaler string) string {
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100, namespace: fleet}
spec:
  gpus: {clusterQueue: {name: gpus}}
  members: [{forecast: chat}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 5m}]
---
apiVersion: keda.sh/v1alpha1
kind: ClusterTriggerAuthentication
metadata: {name: forewarm}
spec:
  secretTargetRef:
    - {parameter: caCert, name: forewarm-client, key: ca.crt}
    - {parameter: tlsClientCert, name: forewarm-client, key: tls.crt}
    - {parameter: tlsClientKey, name: forewarm-client, key: tls.key}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: embeddings, namespace: fleet, labels: {kueue.x-k8s.io/queue-name: gpus}}
spec:
  pollingInterval: 5
  maxReplicaCount: 100
  successfulJobsHistoryLimit: 1000
  triggers:
    - type: external
      metadata: {scalerAddress: %q, fleet: h100, batch: embeddings}
      authenticationRef: {kind: ClusterTriggerAuthentication, name: forewarm}
  jobTargetRef:
    backoffLimit: 0
    template:
      metadata: {labels: {app: embeddings}, annotations: {end.e2e/delay: %s}}
      spec:
        restartPolicy: Never
        containers: [{name: work, image: work, resources: {limits: {nvidia.com/gpu: "1"}}}]`, scaler, jobLength)
}

// fleetDemand returns the demand at every step of three days until a rise, and of an hour then, from the returned time on.
func fleetDemand(rise time.Time, step time.Duration) (from time.Time, series map[string][]float64) {
	const day, lasts, ramp = 24 * time.Hour, 6 * time.Hour, time.Minute
	first := rise.Add(-3 * day)
	from = first.Add(-time.Hour)
	var values []float64
	for at := from; at.Before(rise.Add(time.Hour)); at = at.Add(step) {
		value := nightDemand
		if since := at.Sub(first); since >= 0 && since%day < lasts {
			value += (dayDemand - nightDemand) * min(1, float64(since%day)/float64(ramp))
		}
		values = append(values, value)
	}
	return from, map[string][]float64{`inflight{namespace="fleet"}`: values}
}

// kueueFleet is a stage with Kueue, KEDA and a fleet.
type kueueFleet struct{ *stage }

// TestFleetWithKueue: a fleet has the quota of the real Kueue. The real KEDA creates Jobs by its metric, and Kueue admits them to the GPUs
// that the member leaves. When the demand of the member rises as it does every day, the Jobs have ended: none was preempted, and no replica
// waited.
func TestFleetWithKueue(t *testing.T) {
	f := &kueueFleet{&stage{}}
	f.Cluster, _ = setUp(t, "FOREWARM_KUEUE",
		clustertest.Options{KEDA: true, Sync: 2 * time.Second, Stabilization: time.Second})
	f.begin = time.Now()
	// The history has cells of five minutes, and fewer jobs start from two cells before the rise on. So they have three minutes to fill the
	// GPUs before, or more.
	const before, cell, step = 13 * time.Minute, 5 * time.Minute, 15 * time.Second
	rise := f.begin.Add(before).Truncate(cell).Add(cell)
	from, series := fleetDemand(rise, step)
	if err := f.WriteSeries(t.Context(), from, step, series); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	f.fill(t, firstQuota)
	f.MustKubectl(t, "patch", "clusterqueue/gpus", "--type=json", "-p", fmt.Sprintf(`[{"op": "replace", "value": "%d",
		"path": "/spec/resourceGroups/0/flavors/1/resources/0/nominalQuota"}]`, fullQuota-32))
	f.fill(t, fullQuota)
	f.ramp(t, rise)
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
	if f.client, err = kubernetes.NewForConfig(f.Config); err != nil {
		t.Fatal(err)
	}
	f.MustApply(t, fleetMember, fleetBatch(scaler))
	f.log(t, "everything is started")
}

// pods returns the pods that have not ended, by their label app.
func (f *kueueFleet) pods(t *testing.T) map[string][]corev1.Pod {
	t.Helper()
	all, err := f.client.CoreV1().Pods("fleet").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]corev1.Pod{}
	for _, p := range all.Items {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			out[p.Labels["app"]] = append(out[p.Labels["app"]], p)
		}
	}
	return out
}

// spare returns the Object metric, as a consumer reads it.
func (f *kueueFleet) spare(t *testing.T) (int, error) {
	t.Helper()
	text, err := f.Kubectl(t.Context(), "", "get", "--raw", "/apis/custom.metrics.k8s.io/v1beta2/namespaces/fleet/"+
		"gpufleets.forewarm.dev/h100/spare?metricLabelSelector=batch%3Dembeddings")
	if err != nil {
		return 0, err
	}
	var list struct{ Items []struct{ Value string } }
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return strconv.Atoi(list.Items[0].Value)
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

// fill waits until the fleet has the quota, and jobs use what the member leaves of it, and not more.
func (f *kueueFleet) fill(t *testing.T, quota int) {
	t.Helper()
	gpus := func() string {
		return f.MustKubectl(t, "get", "gpufleet/h100", "-n", "fleet", "-o", "jsonpath={.status.gpus}")
	}
	clustertest.MustEventually(t, func() string {
		spare, err := f.spare(t)
		running := len(f.pods(t)["embeddings"])
		if has := gpus(); has != strconv.Itoa(quota) {
			return fmt.Sprintf("the fleet has %q GPUs, the quota is %d", has, quota)
		}
		if err != nil || spare < quota*2/3 || spare > quota-nightReplicas || running < spare-2 || running > spare {
			return fmt.Sprintf("%d jobs run, %d may run (%v):\n%s", running, spare, err,
				f.MustKubectl(t, "get", "gpufleets,hpa,fc,jobs", "-n", "fleet", "-o", "wide"))
		}
		return ""
	})
	f.log(t, "%d jobs run with a quota of %d: %s", len(f.pods(t)["embeddings"]), quota,
		f.MustKubectl(t, "get", "gpufleet/h100", "-n", "fleet", "-o", "jsonpath={.status.message}"))
}

// ramp: before the rise fewer and fewer jobs start. When it comes, no job is killed, and no replica waits for a GPU.
func (f *kueueFleet) ramp(t *testing.T, rise time.Time) {
	t.Helper()
	longest, most, said := time.Duration(0), 0, time.Time{}
	for end := rise.Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		pods := f.pods(t)
		for _, p := range pods["chat"] {
			if p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
				longest = max(longest, time.Since(p.CreationTimestamp.Time))
			}
		}
		if time.Now().After(rise.Add(-time.Minute)) {
			most = max(most, len(pods["embeddings"]))
		}
		if time.Since(said) >= time.Minute {
			said = time.Now()
			spare, err := f.spare(t)
			f.log(t, "%4.0f s to the rise: chat %d, jobs %d, may run %d (%v)", time.Until(rise).Seconds(),
				len(pods["chat"]), len(pods["embeddings"]), spare, err)
		}
	}
	// The forecast may be above the demand, by a replica or two.
	if chat := len(f.pods(t)["chat"]); chat < dayReplicas || chat > dayReplicas+2 {
		t.Errorf("chat has %d replicas, want %d or little more", chat, dayReplicas)
	}
	f.ended(t)
	if longest > 10*time.Second {
		t.Errorf("a replica of the member waited %s for a GPU", longest)
	}
	if most > fullQuota-dayReplicas {
		t.Errorf("%d jobs ran when the demand rose, want %d at most", most, fullQuota-dayReplicas)
	}
	f.log(t, "the longest wait for a GPU was %.1f s; at most %d jobs ran from a minute before the rise on",
		longest.Seconds(), most)
}

// ended: all jobs were admitted by Kueue, and those that ended have finished their work.
func (f *kueueFleet) ended(t *testing.T) {
	t.Helper()
	jobs, err := f.client.BatchV1().Jobs("fleet").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	admitted, done := f.admitted(t), 0
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !admitted[job.Name] {
			t.Errorf("Kueue has not admitted the job %s", job.Name)
		}
		for _, c := range job.Status.Conditions {
			if c.Status == corev1.ConditionTrue && c.Type == batchv1.JobFailed {
				t.Errorf("the job %s was killed: %s", job.Name, strings.TrimSpace(c.Message))
			}
		}
		done += int(job.Status.Succeeded)
	}
	if done < 2*fullQuota {
		t.Errorf("%d jobs finished, want many more", done)
	}
	f.log(t, "%d of %d jobs have finished, and Kueue has preempted none", done, len(jobs.Items))
}
