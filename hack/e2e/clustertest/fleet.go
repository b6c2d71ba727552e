package clustertest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// In the scenarios of a fleet, batch jobs use the GPUs that its only member leaves. A replica of the member sustains 10, so that it has
// NightReplicas, and DayReplicas for six hours a day. A job takes JobLength; the fleet allows five minutes.
const (
	NightReplicas, DayReplicas = 4, 40
	JobLength                  = time.Minute
)

// FleetDemand is the demand of the member, which rises every day at the time of a rise, within a minute.
func FleetDemand(rise, at time.Time) float64 {
	const day, lasts, ramp = 24 * time.Hour, 6 * time.Hour, time.Minute
	since := (at.Sub(rise)%day + day) % day
	if since >= lasts {
		return 10 * NightReplicas
	}
	return 10 * (NightReplicas + (DayReplicas-NightReplicas)*min(1, since.Seconds()/ramp.Seconds()))
}

// Fleet is the GPUFleet h100 in the namespace fleet, with the member chat and the consumer embeddings.
type Fleet struct {
	cluster *Cluster
	client  kubernetes.Interface
}

// ServingPriority is the priority of the member's pods, above that of the jobs.
const ServingPriority = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: serving}\nvalue: 1000"

// MustCreateFleet creates a GPUFleet with these GPUs, and a ScaledJob with these labels, whose trigger is at an address of Forewarm. It always
// has more work than GPUs.
func (c *Cluster) MustCreateFleet(t *testing.T, gpus, labels, scaler string) *Fleet {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	c.MustApply(t, ClientAuthentication, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100, namespace: fleet}
spec:
  gpus: %s
  members: [{forecast: chat}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 5m}]
---
apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: embeddings, namespace: fleet, labels: %s}
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
        containers: [{name: work, image: work, resources: {limits: {nvidia.com/gpu: "1"}}}]`, gpus, labels, scaler, JobLength))
	return &Fleet{cluster: c, client: client}
}

// Pods returns the pods that have not ended, by their label app.
func (f *Fleet) Pods(t *testing.T) map[string][]corev1.Pod {
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

// Jobs returns all jobs. One that was killed is an error of the test.
func (f *Fleet) Jobs(t *testing.T) []batchv1.Job {
	t.Helper()
	jobs, err := f.client.BatchV1().Jobs("fleet").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs.Items {
		for _, c := range jobs.Items[i].Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
				t.Errorf("the job %s was killed: %s", jobs.Items[i].Name, c.Message)
			}
		}
	}
	return jobs.Items
}

// metricList is the part of a metric's values that is read.
type metricList struct{ Items []metricValue }

type metricValue struct{ Value string }

// Spare returns the Object metric, as a consumer reads it.
func (f *Fleet) Spare(t *testing.T, consumer string) (int, error) {
	t.Helper()
	const path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/fleet/gpufleets.forewarm.dev/h100/spare"
	text, err := f.cluster.Kubectl(t.Context(), "", "get", "--raw", path+"?metricLabelSelector=batch%3D"+consumer)
	if err != nil {
		return 0, err
	}
	var list metricList
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return strconv.Atoi(list.Items[0].Value)
}

// Status returns a field of the fleet's status.
func (f *Fleet) Status(t *testing.T, field string) string {
	t.Helper()
	return f.cluster.MustKubectl(t, "get", "gpufleet/h100", "-n", "fleet", "-o", "jsonpath={.status."+field+"}")
}

// Fill waits until the fleet has a number of GPUs, and jobs use what the member leaves of them, and not more.
func (f *Fleet) Fill(t *testing.T, gpus int) {
	t.Helper()
	MustEventually(t, func() string {
		spare, err := f.Spare(t, "embeddings")
		running := len(f.Pods(t)["embeddings"])
		if has := f.Status(t, "gpus"); has != strconv.Itoa(gpus) {
			return fmt.Sprintf("the fleet has %q GPUs, want %d", has, gpus)
		}
		if err != nil || spare < gpus*2/3 || spare > gpus-NightReplicas || running < spare-2 || running > spare {
			return fmt.Sprintf("%d jobs run, %d may run (%v):\n%s", running, spare, err,
				f.cluster.MustKubectl(t, "get", "gpufleets,hpa,fc,jobs", "-n", "fleet", "-o", "wide"))
		}
		return ""
	})
	t.Logf("%d jobs run on %d GPUs: %s", len(f.Pods(t)["embeddings"]), gpus, f.Status(t, "message"))
}

// Ramp waits for a rise, and some time afterwards. Before, fewer and fewer jobs start. When it comes, no job is killed, no more jobs run
// than the member leaves GPUs, and no replica waits for one longer than allowed.
func (f *Fleet) Ramp(t *testing.T, rise time.Time, afterwards, allowed time.Duration, gpus int) {
	t.Helper()
	longest, most, said := time.Duration(0), 0, time.Time{}
	for end := rise.Add(afterwards); time.Now().Before(end); time.Sleep(time.Second) {
		pods := f.Pods(t)
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
			spare, err := f.Spare(t, "embeddings")
			t.Logf("%4.0f s to the rise: chat %d, jobs %d, may run %d (%v)", time.Until(rise).Seconds(),
				len(pods["chat"]), len(pods["embeddings"]), spare, err)
		}
	}
	f.Jobs(t)
	// The HPA stops within its tolerance, a tenth. The forecast may be above the demand, by a replica or two.
	if chat := len(f.Pods(t)["chat"]); chat < DayReplicas*9/10 || chat > DayReplicas+2 {
		t.Errorf("chat has %d replicas, want about %d", chat, DayReplicas)
	}
	if longest > allowed {
		t.Errorf("a replica of the member waited %s for a GPU", longest)
	}
	if most > gpus-DayReplicas {
		t.Errorf("%d jobs ran when the demand rose, want %d at most", most, gpus-DayReplicas)
	}
	t.Logf("the longest wait for a GPU was %.1f s; at most %d jobs ran from a minute before the rise on",
		longest.Seconds(), most)
}
