package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	batchv1 "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The fleet is all GPUs of the cluster. A replica of its member sustains 10. Every day the demand rises at the same time.
const (
	nightDemand, dayDemand     = 40.0, 400.0
	nightReplicas, dayReplicas = 4, 40
	// jobLength is how long a job takes; the fleet allows five minutes.
	jobLength = time.Minute
	// forRamp is the time from the beginning of the test to the rise, and forShort is the same if the rise is not waited for.
	forRamp, forShort = 18 * time.Minute, 40 * time.Minute
)

// fleetDay is the demand of a member, by the time of its daily rise.
type fleetDay struct{ rise time.Time }

func (d fleetDay) at(now time.Time) float64 {
	const day, lasts, ramp = 24 * time.Hour, 6 * time.Hour, time.Minute
	switch since := (now.Sub(d.rise)%day + day) % day; {
	case since >= lasts:
		return nightDemand
	case since < ramp:
		return nightDemand + (dayDemand-nightDemand)*since.Seconds()/ramp.Seconds()
	}
	return dayDemand
}

func (d fleetDay) past(end time.Time, step time.Duration, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = d.at(end.Add(-time.Duration(n-i) * step))
	}
	return out
}

// TestFleet: a KEDA ScaledJob uses the GPUs that a member leaves, by the metric of a GPUFleet. While Forewarm is away, no job starts. With
// FOREWARM_FLEET the member's demand rises as it does every day: no job is killed, and no replica of the member waits for a GPU.
func TestFleet(t *testing.T) {
	t.Parallel()
	ahead := forShort
	if os.Getenv("FOREWARM_FLEET") != "" {
		ahead = forRamp
	}
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second, KEDA: true})
	day := fleetDay{time.Now().Add(ahead)}
	const step = 15 * time.Second
	s.writePast(t, workloadKey{"fleet", "chat"}, step, day.past(time.Now(), step, int(3*24*time.Hour/step)))
	s.demand.follow("fleet", "chat", func() float64 { return day.at(time.Now()) })
	s.observe(t)
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scaler := fmt.Sprintf("127.0.0.1:%d", port)
	s.MustKubectl(t, "apply", "--server-side", "-k", "deploy/fleets")
	s.forewarm(t, "deploy/with-keda-scaler", 1, "--keda-address="+scaler, "--fleets", "--fleet-nodes")
	s.MustApply(t, clientAuthentication, namespace("fleet"), fleetMember(), fleetObject, fleetJobs(scaler))
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleetScene{stage: s, client: client}
	f.fill(t)
	f.read(t)
	f.away(t)
	if ahead == forRamp {
		f.ramp(t, day.rise)
	} else {
		t.Log("the rise is not waited for: run `make e2e-fleet`")
	}
}

// fleetMember is a workload with a higher priority than batch work, its Forecast, and its HPA by the Object metric.
func fleetMember() string {
	return strings.Join([]string{
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: serving}\nvalue: 1000",
		strings.Replace(workload("fleet", "chat", "5s", nightReplicas), "      terminationGracePeriodSeconds: 0",
			"      terminationGracePeriodSeconds: 0\n      priorityClassName: serving", 1),
		forecastOf("fleet", "chat", "step: 15s", "history: 3d", "leadTime: {mode: Fixed, duration: 30s}"),
		strings.Replace(hpa("fleet", "chat", "chat", object("chat")), "maxReplicas: 20", "maxReplicas: 60", 1),
	}, "\n---\n")
}

const fleetObject = `
apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100, namespace: fleet}
spec:
  gpus: {nodeSelector: {nvidia.com/gpu.present: "true"}}
  members: [{forecast: chat}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 5m}]`

// fleetJobs is a ScaledJob, always with more work than GPUs.
func fleetJobs(scaler string) string {
	return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: embeddings, namespace: fleet}
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

// fleetScene is a stage with a fleet.
type fleetScene struct {
	*stage
	client kubernetes.Interface
}

// pods returns the pods that have not ended, by their label app.
func (f *fleetScene) pods(t *testing.T) map[string][]core.Pod {
	t.Helper()
	all, err := f.client.CoreV1().Pods("fleet").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]core.Pod{}
	for _, p := range all.Items {
		if p.Status.Phase != core.PodSucceeded && p.Status.Phase != core.PodFailed {
			out[p.Labels["app"]] = append(out[p.Labels["app"]], p)
		}
	}
	return out
}

// jobs returns how many jobs there are, and how many of them failed.
func (f *fleetScene) jobs(t *testing.T) (all, failed int) {
	t.Helper()
	list, err := f.client.BatchV1().Jobs("fleet").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		for _, c := range list.Items[i].Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Status == core.ConditionTrue {
				failed++
			}
		}
	}
	return len(list.Items), failed
}

// spare returns the Object metric, as a consumer reads it.
func (f *fleetScene) spare(t *testing.T, consumer string) (value int, problem error) {
	t.Helper()
	const path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/fleet/gpufleets.forewarm.dev/h100/spare"
	text, err := f.Kubectl(t.Context(), "", "get", "--raw", path+"?metricLabelSelector=batch%3D"+consumer)
	if err != nil {
		return 0, err
	}
	var list struct{ Items []struct{ Value string } }
	if err = json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	value, err = strconv.Atoi(list.Items[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	return value, nil
}

// fill waits until jobs use what the member leaves, and not more.
func (f *fleetScene) fill(t *testing.T) {
	t.Helper()
	f.scaled(t, "fleet", "chat", nightReplicas)
	clustertest.MustEventually(t, func() string {
		spare, err := f.spare(t, "embeddings")
		running := len(f.pods(t)["embeddings"])
		if err != nil || spare < 50 || running < spare-2 || running > spare {
			objects := f.get(t, "gpufleets,hpa,fc", "-n", "fleet", "-o", "wide")
			return fmt.Sprintf("%d jobs run, %d may run: %v\n%s", running, spare, err, objects)
		}
		return ""
	})
	why := f.get(t, "gpufleet", "h100", "-n", "fleet", "-o", "jsonpath={.status.message}")
	f.logf(t, "%d jobs run: %s", len(f.pods(t)["embeddings"]), why)
}

func (f *fleetScene) logf(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("%3.0f s: "+format, append([]any{time.Since(f.begin).Seconds()}, args...)...)
}

// read: only listed consumers get a number, and the object explains itself.
func (f *fleetScene) read(t *testing.T) {
	t.Helper()
	if _, err := f.spare(t, "unknown"); err == nil || !strings.Contains(err.Error(), "embeddings") {
		t.Errorf("an unlisted reader gets %v, want an error that lists the consumers", err)
	}
	for condition, want := range map[string]string{
		"Ready": "True", "MembersResolved": "True", "CapacityKnown": "True", "BatchSafe": "True", "Shortage": "False",
	} {
		expect(t, condition, func(t *testing.T) string {
			t.Helper()
			return f.get(t, "gpufleet", "h100", "-n", "fleet", "-o",
				fmt.Sprintf(`jsonpath={.status.conditions[?(@.type==%q)].status}`, condition))
		}, want)
	}
}

// away: while Forewarm is away, jobs end and no job starts. Afterwards jobs start again.
func (f *fleetScene) away(t *testing.T) {
	t.Helper()
	f.replicas[0].Kill()
	time.Sleep(15 * time.Second) // KEDA may have begun to start jobs.
	before, _ := f.jobs(t)
	time.Sleep(jobLength + 15*time.Second)
	if after, _ := f.jobs(t); after > before {
		t.Errorf("%d jobs were started while Forewarm was away", after-before)
	}
	if running := len(f.pods(t)["embeddings"]); running > 0 {
		t.Errorf("%d jobs still run after %s", running, jobLength)
	}
	if err := f.replicas[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.logf(t, "no job was started while Forewarm was away")
	f.fill(t)
	if _, failed := f.jobs(t); failed > 0 {
		t.Errorf("%d jobs failed", failed)
	}
}

// ramp: before the rise fewer and fewer jobs start. When it comes, no job is killed, and no replica waits for a GPU.
func (f *fleetScene) ramp(t *testing.T, rise time.Time) {
	t.Helper()
	longest, most, said := time.Duration(0), 0, time.Time{}
	for end := rise.Add(4 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
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
			spare, err := f.spare(t, "embeddings")
			f.logf(t, "%4.0f s to the rise: chat %d, jobs %d, may run %d (%v)", time.Until(rise).Seconds(),
				len(pods["chat"]), len(pods["embeddings"]), spare, err)
		}
	}
	f.scaled(t, "fleet", "chat", dayReplicas)
	if _, failed := f.jobs(t); failed > 0 {
		t.Errorf("%d jobs were killed", failed)
	}
	if longest > 5*time.Second {
		t.Errorf("a replica of the member waited %s for a GPU", longest)
	}
	if most > clustertest.GPUs-dayReplicas {
		t.Errorf("%d jobs ran when the demand rose, want %d at most", most, clustertest.GPUs-dayReplicas)
	}
	const text = "the longest wait for a GPU was %.1f s; at most %d jobs ran from a minute before the rise on"
	f.logf(t, text, longest.Seconds(), most)
}
