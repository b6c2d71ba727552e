package forecasts_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: default}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {containers: [{name: c, image: i}]}
`

var llama = leadtime.Workload{Namespace: "default", APIVersion: "apps/v1", Kind: "Deployment", Name: "llama"}

// kubelet makes llama's pods.
type kubelet struct{ apiservertest.Kubelet }

func newKubelet(t *testing.T, c *apiservertest.Cluster) kubelet {
	t.Helper()
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "deployment", "--all") })
	return kubelet{c.Kubelet(t)}
}

// create creates a pod that carries llama's labels.
func (k kubelet) create(name, kind, controller string) *corev1.Pod {
	return k.Create(name, map[string]string{"app": "llama", "pod-template-hash": "5d4f"}, kind, controller)
}

// start is a whole start of one of llama's pods.
func (k kubelet) start(name string, took time.Duration) time.Time {
	return k.Ready(k.create(name, "ReplicaSet", "llama-5d4f"), took)
}

// process is one of forewarm's replicas: what it watches, and the writer that it is while it leads.
type process struct {
	objects   *forecasts.Objects
	snapshots *snapshot.Store
	writer    *forecasts.StatusWriter
	client    dynamic.ResourceInterface
}

// newProcess returns when the pods are watched.
func newProcess(t *testing.T, c *apiservertest.Cluster, before ...func(*forecasts.Objects)) *process {
	t.Helper()
	p := &process{
		objects:   watchAs(t, c.Config, quiet(), before...),
		snapshots: &snapshot.Store{},
		client:    forecastsOf(t, c.Config),
	}
	p.writer = forecasts.NewStatusWriter(p.objects, p.snapshots, quiet())
	eventually(t, func() string { return forecasts.Problem(p.objects, llama) })
	return p
}

// target is the only Forecast at a time.
func (p *process) target(t *testing.T, now time.Time) refresh.Job {
	t.Helper()
	targets := p.objects.List(now)
	if len(targets) != 1 {
		t.Fatalf("targets %+v, want one", targets)
	}
	return targets[0]
}

// lead does what a leader does at a time, once its watch has seen a number of starts.
func (p *process) lead(t *testing.T, now time.Time, seen int) {
	t.Helper()
	starts := func() string { return apiservertest.Differs("starts", forecasts.SeenStarts(p.objects, llama), seen) }
	eventually(t, starts)
	target := p.target(t, now)
	e := entry("a", now)
	e.Lead, e.LeadSource = target.Lead, target.LeadSource
	publish(p.snapshots, now, e)
	if _, err := p.writer.Step(t.Context(), now); err != nil {
		t.Error(err)
	}
	time.Sleep(200 * time.Millisecond) // The watch sees what was written.
}

// counted is how many starts the status in the cluster holds.
func (p *process) counted(t *testing.T) int64 {
	t.Helper()
	status, _ := stored(t, p.client, "a")
	if status.Starts == nil {
		return 0
	}
	record, err := forecasts.RecordIn(status.Starts)
	if err != nil || status.Starts.Workload != "Deployment.apps/llama" {
		t.Fatalf("%v: starts %+v", err, status.Starts)
	}
	return record.Starts()
}

func testMeasured(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, deployment+"---"+forecast("a", "x"), "create", "-f", "-")
	k := newKubelet(t, c)
	// Pods that were ready before forewarm came say nothing, nor do those that belong to somebody else.
	k.start("early", time.Hour)
	one := newProcess(t, c)
	k.Ready(k.create("canary", "ReplicaSet", "llama-canary-5d4f"), time.Minute)
	k.Ready(k.create("bare", "", ""), time.Minute)

	for i := range 9 {
		k.start(fmt.Sprintf("p%d", i), 4*time.Minute)
	}
	now := time.Now().Add(10 * time.Minute).Truncate(time.Second)
	one.lead(t, now, 9)
	if status, _ := stored(t, one.client, "a"); status.LeadTimeSource != "fallback 5m: 9 of 10 starts measured" {
		t.Errorf("the status counts %q", status.LeadTimeSource)
	}
	if n, target := one.counted(t), one.target(t, now); n != 9 || target.Lead != 5*time.Minute ||
		target.LeadSource != "fallback 5m: 9 of 10 starts measured" {
		t.Errorf("%d starts counted, lead %s: %s", n, target.Lead, target.LeadSource)
	}

	// The tenth makes a lead time, which is announced first.
	ready := k.start("p9", 4*time.Minute+5*time.Second)
	now = later(now, ready)
	one.lead(t, now, 10)
	before, after := one.target(t, now.Add(59*time.Second)), one.target(t, now.Add(time.Minute))
	if before.Lead != 5*time.Minute || !strings.Contains(before.LeadSource, "(changes to ") {
		t.Errorf("announced: %s: %s", before.Lead, before.LeadSource)
	}
	if after.Lead < 4*time.Minute || after.Lead > 253*time.Second ||
		after.LeadSource != "p90 of 10 starts, all on existing nodes" || after.Settings.Lead != after.Lead {
		t.Errorf("in use: %s (policy %s): %s", after.Lead, after.Settings.Lead, after.LeadSource)
	}

	// A replica that starts now takes it from the status; both agree before and after the change-over.
	two := newProcess(t, c)
	for _, at := range []time.Time{now, now.Add(59 * time.Second), now.Add(time.Minute), now.Add(time.Hour)} {
		if diff := cmp.Diff(one.target(t, at), two.target(t, at)); diff != "" {
			t.Errorf("replicas disagree at %s: %s", at, diff)
		}
	}
	now = now.Add(2 * time.Minute)
	two.lead(t, now, 0)
	status, _ := stored(t, two.client, "a")
	if status.LeadTime == "5m" || status.LeadTimeSource != after.LeadSource || two.counted(t) != 10 {
		t.Errorf("status after a restart: %s: %s, %d starts", status.LeadTime, status.LeadTimeSource, two.counted(t))
	}
	leadersTakeTurns(t, k, one, two, now)

	three := newProcess(t, c)
	leads := func(when string, want time.Duration) {
		t.Helper()
		lead := func() string { return apiservertest.Differs("lead time "+when, three.target(t, now).Lead, want) }
		eventually(t, lead)
	}
	patch := func(args ...string) {
		t.Helper()
		c.MustKubectl(t, "", append([]string{"patch", "forecast", "a", "--type=merge"}, args...)...)
	}
	// A workload with another name has none of its own; one that names its former name takes it over.
	measured := three.target(t, now).Lead
	patch("-p", `{"spec": {"targetRef": {"name": "green"}}}`)
	leads("of another workload", 5*time.Minute)
	patch("-p", `{"spec": {"formerNames": ["llama"]}}`)
	leads("of a renamed workload", measured)
	patch("-p", `{"spec": {"targetRef": {"name": "llama"}, "formerNames": null}}`)
	leads("of the workload", measured)

	// The record can be reset, as docs/runbooks.md says.
	patch("--subresource=status", "-p", `{"status": {"starts": null}}`)
	leads("after a reset", 5*time.Minute)
}

// later is when a start has settled, and at least a minute after the time before.
func later(now, ready time.Time) time.Time {
	return now.Add(max(time.Minute, ready.Add(2*time.Minute).Sub(now)))
}

// leadersTakeTurns has both replicas see the same three starts: they count once, no matter which leads.
func leadersTakeTurns(t *testing.T, k kubelet, one, two *process, now time.Time) {
	t.Helper()
	var ready time.Time
	for i := range 3 {
		// Longer than the first ten: what is ready in a second that was counted before does not count any more.
		ready = k.start(fmt.Sprintf("q%d", i), 5*time.Minute)
	}
	now = later(now, ready)
	one.lead(t, now, 13)
	if n := one.counted(t); n != 13 {
		t.Errorf("%d starts counted, want 13", n)
	}
	for range 3 {
		now = now.Add(time.Minute)
		two.lead(t, now, 3)
		if n := two.counted(t); n != 13 {
			t.Errorf("with the other replica leading, which has seen 3 starts, %d are counted, want 13", n)
		}
		one.lead(t, now.Add(30*time.Second), 13)
		if n := one.counted(t); n != 13 {
			t.Errorf("with the first one leading again %d starts are counted, want 13", n)
		}
	}
}

// testNoRights runs with the rights that forewarm had before it measured, and with half of the new ones.
func testNoRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	other := strings.NewReplacer("llama", "mistral")
	c.MustKubectl(t, deployment+"---"+forecast("a", "x")+"---"+other.Replace(deployment+"---"+forecast("b", "x")),
		"create", "-f", "-")
	t.Cleanup(func() {
		c.MustKubectl(t, "", "delete", "deployment", "--all")
		c.MustKubectl(t, "", "delete", "clusterrolebinding,clusterrole", "old", "half")
	})
	for _, s := range []struct{ role, scale, want string }{
		{
			"old", "",
			"fallback 5m: Forewarm is not allowed to read the scale of Deployment.apps/llama: apply deploy/default, or upgrade the chart",
		},
		{"half", "*/scale", "fallback 5m: Forewarm is not allowed to list pods in default: apply deploy/default, or upgrade the chart"},
	} {
		rules := `{apiGroups: [forewarm.dev], resources: [forecasts], verbs: [get, list, watch]}`
		if s.scale != "" {
			rules += `, {apiGroups: ["*"], resources: ["` + s.scale + `"], verbs: [get]}`
		}
		c.MustKubectl(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %s}
rules: [%s]
`, s.role, rules), "create", "-f", "-")
		c.MustKubectl(t, "", "create", "clusterrolebinding", s.role, "--clusterrole="+s.role, "--user="+s.role)
		log := &processtest.LogBuffer{}
		objects := watchAs(t, c.User(t, s.role), slog.New(slog.NewTextHandler(log, nil)))
		eventually(t, func() string {
			targets := objects.List(noon())
			for _, target := range targets {
				if strings.Replace(target.LeadSource, "mistral", "llama", 1) == s.want &&
					target.Lead == 5*time.Minute &&
					target.Invalid == "" {
					continue
				}
				return fmt.Sprintf("%s says %q", target.Key.Name, target.LeadSource)
			}
			if len(targets) != 2 {
				return fmt.Sprintf("%d targets, want 2", len(targets))
			}
			return ""
		})
		if n := log.Count("cannot measure the starts of pods"); n != 1 {
			t.Errorf("%s: %d lines in the log, want one", s.role, n)
		}
	}
}

// watchAs runs Objects with somebody's rights for as long as the test, after what is to be done before.
func watchAs(
	t *testing.T, access *rest.Config, log *slog.Logger, before ...func(*forecasts.Objects),
) *forecasts.Objects {
	t.Helper()
	objects, err := forecasts.NewObjects(access, manifest.NewResolver(catalogue{}), log)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range before {
		do(objects)
	}
	apiservertest.Background(t, objects.Run)
	return objects
}

// testOldSchema runs where the CRD is older than forewarm, so that the API server drops what is measured: that is said
// once, and not written again and again.
func testOldSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "patch", "crd", "forecasts.forewarm.dev", "--type=json", "-p",
		`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/starts"}]`)
	t.Cleanup(func() {
		c.MustKubectl(t, "", "replace", "-f", "deploy/charts/forewarm/files/crds/forewarm.dev_forecasts.yaml")
	})
	c.MustKubectl(t, deployment+"---"+forecast("a", "x"), "create", "-f", "-")
	k := newKubelet(t, c)
	p := newProcess(t, c)
	now := later(time.Now(), k.start("p", 4*time.Minute))
	p.lead(t, now, 1)
	if n := p.counted(t); n != 0 {
		t.Fatalf("%d starts are kept: the schema is the new one", n)
	}
	const want = "fallback 5m: the CRD is older than Forewarm and cannot store the measurements: " +
		"apply deploy/default or upgrade the chart, and restart Forewarm"
	if got := p.target(t, now).LeadSource; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.lead(t, now.Add(time.Minute), 1) // It writes these words.
	_, version := stored(t, p.client, "a")
	p.lead(t, now.Add(90*time.Second), 1)
	if _, now := stored(t, p.client, "a"); now != version {
		t.Error("the same start is written again and again")
	}
}

// testRecords puts records into a status by hand: one of another workload is not used, nonsense is none, and what is
// measured next replaces either.
func testRecords(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	starts := func(of string, waited v1alpha1.BucketWeight) v1alpha1.ForecastStatus {
		return v1alpha1.ForecastStatus{Starts: &v1alpha1.Starts{
			Workload:       of,
			LeadTime:       v1alpha1.MeasuredLeadTime{Seconds: 600},
			CountedThrough: metav1.Unix(1, 0),
			Placed: v1alpha1.StartHistogram{
				Count:         10,
				BucketWeights: map[string]v1alpha1.BucketWeight{"131": 10240},
			},
			Waited: v1alpha1.StartHistogram{BucketWeights: map[string]v1alpha1.BucketWeight{"184": waited}},
		}}
	}
	sound := func(of string) v1alpha1.ForecastStatus {
		status := starts(of, 1)
		status.Starts.Waited.BucketWeights = nil
		return status
	}
	c.MustKubectl(t, deployment+"---"+forecast("a", "x"), "create", "-f", "-")
	k := newKubelet(t, c)
	p := newProcess(t, c)
	for _, s := range []struct {
		name   string
		status v1alpha1.ForecastStatus
		want   time.Duration
	}{
		{"its own", sound("Deployment.apps/llama"), 10 * time.Minute},
		{"another workload's", sound("Deployment.apps/mistral"), 5 * time.Minute},
		{"its own again", sound("Deployment.apps/llama"), 10 * time.Minute},
		{"nonsense", starts("Deployment.apps/llama", 1), 5 * time.Minute},
	} {
		patchStarts(t, c, s.status)
		eventually(t, func() string { return apiservertest.Differs(s.name, p.target(t, time.Now()).Lead, s.want) })
	}
	for i, status := range []v1alpha1.ForecastStatus{starts("Deployment.apps/llama", 1), sound("Deployment.apps/mistral")} {
		patchStarts(t, c, status)
		time.Sleep(200 * time.Millisecond) // The watch sees it.
		now := later(time.Now().Add(time.Duration(i)*time.Hour), k.start(fmt.Sprintf("p%d", i), 4*time.Minute))
		p.lead(t, now, i+1)
		if n := p.counted(t); n != int64(i+1) {
			t.Errorf("next to %+v %d starts are counted, want %d", status.Starts, n, i+1)
		}
	}
}

// patchStarts replaces what the status of the Forecast a holds of starts.
func patchStarts(t *testing.T, c *apiservertest.Cluster, status v1alpha1.ForecastStatus) {
	t.Helper()
	c.MustKubectl(t, "", "patch", "forecast", "a", "--subresource=status", "--type=merge", "-p",
		`{"status": {"starts": null}}`)
	patch(t, c, "a", status)
}
