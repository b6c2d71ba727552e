package pools_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/run"
)

// TestCluster runs on one control plane, with the real watch and the real actuators. There are no controllers but ours: what
// is asked for stays as it is asked for.
func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	c.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	c.MustKubectl(t, "", "create", "priorityclass", "forewarm-placeholder", "--value=-10", "--preemption-policy=Never")
	for _, test := range []struct {
		name string
		run  func(*testing.T, *poolScene)
	}{
		{"WithoutTheRightsOfEnforce", testRights},
		{"HeldAndGivenBack", testHeld},
		{"AScaleIsRestored", testScaleRestored},
		{"AClusterScopedTarget", testClusterScoped},
		{"APoolRestoredWithoutItsStatus", testRestored},
		{"ANewLeaderDoublesNothing", testLeaders},
		{"TwoPoolsOnOneMember", testTwoPools},
		{"NoBuffersInTheCluster", testNoBuffers},
		{"EveryReplicaKnowsWhatIsCovered", testCovered},
		{"WithoutTheCRD", testMissingCRD},
		{"RefusedStatusesDelayNoOthers", testRefusedStatuses},
		{"AForeignSchema", testForeignSchema},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &poolScene{T: t, Cluster: c, loads: loads{
				"llama": {demand: 60, target: 10, placed: 2}, "qwen": {demand: 30, target: 10, placed: 1},
			}}
			s.publish()
			t.Cleanup(func() {
				s.MustKubectl(t, "", "delete", "warmpools", "--all", "--wait=false", "--ignore-not-found")
				s.MustKubectl(t, "", "delete", "deployments", "--all")
			})
			test.run(t, s)
		})
	}
}

// poolScene is a test's own replicas of forewarm, which see the same Forecasts.
type poolScene struct {
	*testing.T
	*apiservertest.Cluster
	loads     loads
	snapshots snapshot.Store
}

// pace of the controllers: a life a hundred times as fast.
const pace = 150 * time.Millisecond

func (s *poolScene) publish() {
	entries := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for name, l := range s.loads {
		e := entryOf("default", name, l, time.Now(), false)
		entries[e.Key] = e
	}
	s.snapshots.Publish(snapshot.New(time.Now(), entries, 0, snapshot.LoopStats{}))
}

// watch is that of a replica, for as long as the test.
func (s *poolScene) watch(as *rest.Config, log *slog.Logger) *pools.Watch {
	s.Helper()
	w, err := pools.NewWatch(as, log)
	if err != nil {
		s.Fatal(err)
	}
	apiservertest.Background(s, w.Run)
	w.WaitForSync(s.Context(), 10*time.Second)
	return w
}

// lead has a replica lead until the returned function is called.
func (s *poolScene) lead(as *rest.Config, w *pools.Watch) (resign func()) {
	s.Helper()
	held, err := pools.NewDispatcher(as, time.Now)
	if err != nil {
		s.Fatal(err)
	}
	keeper := pools.NewController(pools.Config{Step: pace}, pools.Dependencies{
		Pools: w, Snapshots: &s.snapshots, Workloads: s.loads, Actuator: held,
	}, quiet())
	return apiservertest.Background(s, func(ctx context.Context) error {
		keeper.Run(ctx, run.WallClock{})
		return nil
	})
}

// begin is a replica that leads.
func (s *poolScene) begin() (w *pools.Watch, resign func()) {
	s.Helper()
	w = s.watch(s.Config, quiet())
	return w, s.lead(s.Config, w)
}

// pool creates one, or changes it; further lines are of its spec.
func (s *poolScene) pool(name, lines string) {
	s.Helper()
	s.MustKubectl(s.T, "apiVersion: forewarm.dev/v1alpha1\nkind: WarmPool\nmetadata: {name: "+name+
		"}\nspec:\n  max: 8\n  chunk: {podTemplate: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"+
		lines, "apply", "-f", "-")
}

const (
	ofLlama = "  members: [{forecast: llama}]\n"
	enforce = "  mode: Enforce\n"
)

// shows waits until a field of an object is as it should be.
func (s *poolScene) shows(object, path, want string) {
	s.Helper()
	apiservertest.Eventually(s.T, 20*time.Second, func() string {
		got, err := s.Kubectl(s.T, "", "get", object, "--ignore-not-found", "-o", "jsonpath={"+path+"}")
		if err != nil || strings.TrimSpace(got) != want {
			return fmt.Sprintf("%s of %s is %q (%v), want %q", path, object, got, err, want)
		}
		return ""
	})
}

// says waits until a condition has a reason, and a message with a text.
func (s *poolScene) says(pool, condition, reason, text string) {
	s.Helper()
	at := `.status.conditions[?(@.type=="` + condition + `")]`
	s.shows("warmpool/"+pool, at+".reason", reason)
	message := s.MustKubectl(s.T, "", "get", "warmpool", pool, "-o", "jsonpath={"+at+".message}")
	if !strings.Contains(message, text) {
		s.Errorf("%s says %q, want %q", condition, message, text)
	}
}

// deployments are the names and replicas of what is held, and what was written to it: "h100=4@1".
func (s *poolScene) deployments() string {
	s.Helper()
	return strings.TrimSpace(s.MustKubectl(s.T, "", "get", "deployments", "-o",
		"jsonpath={range .items[*]}{.metadata.name}={.spec.replicas}@{.metadata.generation} {end}"))
}

func testHeld(t *testing.T, s *poolScene) {
	t.Helper()
	s.begin()
	s.pool("h100", ofLlama)
	s.shows("warmpool/h100", ".status.state", "Recommending")
	if held := s.deployments(); held != "" {
		t.Fatalf("mode Recommend holds %s", held)
	}
	s.pool("h100", ofLlama+enforce+"  budget: {idleGPUHoursPerDay: 48}\n")
	s.shows("warmpool/h100", ".status.held", "4")
	s.shows("warmpool/h100", ".metadata.finalizers",
		"") // Kubernetes deletes what the pool owns, also without Forewarm.
	s.shows("deployments", ".items[*].metadata.ownerReferences[*].name", "h100")
	s.says("h100", "Actuated", "Held", "4 chunks")
	s.shows("warmpool/h100", ".status.state", "Filling")
	if held := s.deployments(); !strings.Contains(held, "=4@") || strings.Contains(held, " ") {
		t.Errorf("held is %s", held)
	}
	t.Logf("kubectl get warmpools:\n%s", s.MustKubectl(t, "", "get", "warmpools", "-o", "wide"))
	s.pool("h100", ofLlama)
	apiservertest.Eventually(t, 20*time.Second, s.deployments)
	s.MustKubectl(t, "", "delete", "warmpool", "h100", "--timeout=20s")
}

// testScaleRestored: a pool that set a scale is kept until the scale is restored.
func testScaleRestored(t *testing.T, s *poolScene) {
	t.Helper()
	s.begin()
	s.MustKubectl(t, spare, "create", "-f", "-")
	s.pool("h100", ofLlama+enforce+"  actuator: {scale: {targetRef: {kind: Deployment, name: spare}}}\n")
	s.shows("deployment/spare", ".spec.replicas", "4")
	s.shows("warmpool/h100", ".metadata.finalizers[0]", pools.Finalizer)
	s.MustKubectl(t, "", "delete", "warmpool", "h100", "--timeout=20s")
	s.shows("deployment/spare", ".spec.replicas", "1")
}

// spare holds capacity by its replicas.
const spare = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: spare, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: spare}}
  template:
    metadata: {labels: {app: spare}}
    spec: {containers: [{name: c, image: i}]}
`

// testLeaders: a second replica takes over, and for a while both believe that they lead.
func testLeaders(t *testing.T, s *poolScene) {
	t.Helper()
	first, resign := s.begin()
	s.pool("h100", ofLlama+enforce)
	s.shows("warmpool/h100", ".status.held", "4")
	held := s.deployments()
	second := s.watch(s.Config, quiet())
	s.lead(s.Config, second)
	time.Sleep(20 * pace)
	resign()
	// The demand is gone, and what is held is kept for a while: by the new leader, who knows that from the status.
	s.loads["llama"].demand = 10
	s.publish()
	time.Sleep(20 * pace)
	if now := s.deployments(); now != held {
		t.Errorf("held was %s, is %s", held, now)
	}
	s.shows("warmpool/h100", ".status.held", "4")
	if n := len(first.List()); n != 1 {
		t.Errorf("the old leader sees %d pools", n)
	}
}

func testTwoPools(t *testing.T, s *poolScene) {
	t.Helper()
	s.begin()
	s.pool("older", ofLlama+enforce)
	s.shows("warmpool/older", ".status.held", "4")
	time.Sleep(time.Second) // Their age is told in seconds.
	s.pool("a-younger", "  members: [{forecast: llama}, {forecast: qwen}]\n"+enforce)
	s.says("a-younger", "MembersResolved", "MemberOfOlderPool", "the older pool older")
	s.shows("warmpool/a-younger", ".status.held", "2")
	apiservertest.Eventually(t, 20*time.Second, func() string {
		message := s.MustKubectl(t, "", "get", "warmpool", "older", "-o",
			`jsonpath={.status.conditions[?(@.type=="MembersResolved")].message}`)
		if !strings.Contains(message, "the newer pool a-younger") {
			return message
		}
		return ""
	})
}

func testNoBuffers(t *testing.T, s *poolScene) {
	t.Helper()
	s.begin()
	s.pool("l4", ofLlama+enforce+"  actuator: {capacityBuffer: {}}\n")
	apiservertest.Eventually(t, 20*time.Second, func() string {
		text := s.MustKubectl(t, "", "get", "warmpool", "l4", "-o", "jsonpath={.status}")
		if !strings.Contains(text, `"status":"False","type":"Actuated"`) || !strings.Contains(text, "apacityBuffer") {
			return text
		}
		return ""
	})
	s.MustKubectl(t, "", "delete", "warmpool", "l4", "--timeout=20s")
}

// testRights: forewarm with deploy/default alone recommends, and says what Enforce takes.
func testRights(t *testing.T, s *poolScene) {
	t.Helper()
	as := rest.CopyConfig(s.Config)
	as.Impersonate.UserName = "system:serviceaccount:forewarm-system:forewarm"
	s.lead(as, s.watch(as, quiet()))
	s.pool("h100", ofLlama)
	s.shows("warmpool/h100", ".status.wanted", "4")
	s.pool("h100", ofLlama+enforce)
	s.says("h100", "Actuated", "Forbidden", "apply deploy/warm-pools")
	if held := s.deployments(); held != "" {
		t.Errorf("held is %s", held)
	}
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	s.shows("warmpool/h100", ".status.held", "4")
	s.says("h100", "Actuated", "Held", "4 chunks")
	s.MustKubectl(t, "", "delete", "warmpool", "h100", "--timeout=20s")
}

func testCovered(t *testing.T, s *poolScene) {
	t.Helper()
	s.pool("h100", ofLlama)
	s.pool("other", "  members: [{forecast: qwen}]\n")
	w := s.watch(s.Config, quiet())
	if _, _, ok := w.Covered("default", "llama"); ok {
		t.Error("covered before anybody said so")
	}
	s.MustKubectl(
		t,
		"",
		"patch",
		"warmpool",
		"h100",
		"--subresource=status",
		"--type=merge",
		"-p",
		`{"status": {"wanted": 1, "held": 1, "ready": 1, "borrowed": 0, "covered": [{"forecast": "llama", "since": "2026-10-01T12:00:00Z"}]}}`,
	)
	apiservertest.Eventually(t, 10*time.Second, func() string {
		pool, since, ok := w.Covered("default", "llama")
		if !ok || pool != "h100" || !since.Equal(noon()) {
			return fmt.Sprint(pool, since, ok)
		}
		return ""
	})
	if _, _, ok := w.Covered("team", "llama"); ok {
		t.Error("another namespace's Forecast is covered")
	}
	s.MustKubectl(t, "", "delete", "warmpool", "h100")
	apiservertest.Eventually(t, 10*time.Second, func() string {
		if _, _, ok := w.Covered("default", "llama"); ok {
			return "covered by a pool that is gone"
		}
		return ""
	})
}

// testMissingCRD: a cluster without WarmPools is told once how to get them, and has them when it does.
func testMissingCRD(t *testing.T, s *poolScene) {
	t.Helper()
	s.MustKubectl(t, "", "delete", "-f", "deploy/charts/forewarm/files/crds/forewarm.dev_warmpools.yaml", "--wait")
	var log processtest.LogBuffer
	w := s.watch(s.Config, slog.New(slog.NewTextHandler(&log, nil)))
	s.lead(s.Config, w)
	apiservertest.Eventually(t, 10*time.Second, func() string {
		if err := w.Check(); err == nil ||
			!strings.Contains(err.Error(), "apply deploy/default, or upgrade the chart, to use warm pools") {
			return fmt.Sprint(err)
		}
		return ""
	})
	time.Sleep(3 * time.Second)
	if n := log.Count("Forewarm does not plan warm pools"); n != 1 || log.Count("level=WARN") > 0 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	s.MustKubectl(t, "", "create", "-f", "deploy/charts/forewarm/files/crds/forewarm.dev_warmpools.yaml")
	s.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/warmpools.forewarm.dev")
	s.pool("h100", ofLlama)
	s.shows("warmpool/h100", ".status.state", "Recommending")
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// testForeignSchema stores what the schema would refuse: it costs that pool and not the others.
func testForeignSchema(t *testing.T, s *poolScene) {
	t.Helper()
	s.MustKubectl(t, "", "patch", "crd", "warmpools.forewarm.dev", "--type=json", "-p", `[{"op": "replace",
		"path": "/spec/versions/0/schema/openAPIV3Schema",
		"value": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}]`)
	s.pool("fine", ofLlama)
	apiservertest.Eventually(t, 20*time.Second, func() string { // The API server takes a moment to forget the schema.
		output, err := s.Kubectl(t, `{"apiVersion": "forewarm.dev/v1alpha1", "kind": "WarmPool",
			"metadata": {"name": "poison"}, "spec": {"max": "many", "members": {"a": 1}}, "status": []}`,
			"create", "--validate=false", "-f", "-")
		if err != nil {
			return output
		}
		return ""
	})
	s.begin()
	s.shows("warmpool/fine", ".status.wanted", "4")
	s.says("poison", "Ready", "Invalid", "spec.members")
}
