package kedaserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// operator names the folder of KEDA's own operator.
const operator = "FOREWARM_KEDA"

// TestKEDA has KEDA's own operator scale a Deployment by the ScaledObject of deploy/samples, over mutual TLS: it wakes at
// once, by the push; KEDA keeps the replicas while there is no data, or applies the fallback; and it sleeps when nothing is coming.
func TestKEDA(t *testing.T) {
	folder := os.Getenv(operator)
	if folder == "" {
		t.Skipf("%s is unset: make test-keda builds what it names, and sets it", operator)
	}
	c := apiservertest.Start(t)
	servers, clients := newAuthority(t, "servers"), newAuthority(t, "clients")
	snapshots := &snapshot.Store{}
	snapshots.Publish(coming(0))
	forewarm := startSecured(t, servers, clients, snapshots)
	prepare(t, c, servers, clients)
	c.MustKubectl(t, sample(t, forewarm.address), "apply", "-f", "-")
	log := operate(t, c, folder)

	deployment := replicas{t: t, c: c, log: log}
	deployment.become(0, time.Minute)
	hpa := c.MustKubectl(t, "", "get", "hpa", "-n", "inference", "keda-hpa-llama", "-o",
		"jsonpath={.spec.metrics[0].external}")
	for _, word := range []string{`"averageValue":"64"`, `"name":"s0-llama-inflight"`} {
		if !strings.Contains(hpa, word) {
			t.Errorf("%s is not in the HPA that KEDA made: %s", word, hpa)
		}
	}

	expectOwnReading(t, c, sample(t, forewarm.address))

	// KEDA polls every five minutes here: only the push can be as quick.
	snapshots.Publish(coming(100))
	deployment.become(1, 10*time.Second)

	// From now on it polls every second, and without a fallback it keeps what is there. (A cool-down of a second would show
	// KEDA's own race at a change of the object: a poll whose scaler is replaced meanwhile counts as inactive.)
	c.MustKubectl(t, "", "patch", "-n", "inference", "scaledobject", "llama", "--type=merge",
		"-p", `{"spec":{"pollingInterval":1,"cooldownPeriod":8,"fallback":null}}`)
	time.Sleep(3 * time.Second)
	snapshots.Publish(snapshottest.Snapshot(snapshottest.Stale(llama())))
	eventually(t, "KEDA hears that the Forecast is stale", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), "the newest sample is 42m old")
	})
	time.Sleep(12 * time.Second) // Many polls, each with an error, and beyond the cool-down.
	deployment.become(1, 0)

	snapshots.Publish(coming(0.25)) // Less than a tenth of a replica.
	deployment.become(0, time.Minute)
	snapshots.Publish(coming(100))
	deployment.become(1, 10*time.Second)

	expectFallback(t, c, forewarm)
}

// expectFallback: KEDA's fallback takes over for a Forecast that does not exist, if the trigger has its own target. It does not take over
// while Forewarm is unreachable, because KEDA then has no metric whose failures it could count: docs/keda.md says so.
func expectFallback(t *testing.T, c *apiservertest.Cluster, forewarm *running) {
	t.Helper()
	create := func(name, forecast, target string, fallback int) {
		c.MustKubectl(t, "", "create", "deployment", "-n", "inference", name, "--image=llama", "--replicas=3")
		c.MustKubectl(t, fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %s, namespace: inference}
spec:
  scaleTargetRef: {name: %[1]s}
  pollingInterval: 1
  cooldownPeriod: 5
  fallback: {failureThreshold: 3, replicas: %d}
  triggers:
  - type: external
    metadata: {scalerAddress: %q, forecast: %s%s}
    authenticationRef: {kind: ClusterTriggerAuthentication, name: forewarm}
`, name, fallback, forewarm.address, forecast, target), "apply", "-f", "-")
	}
	is := func(name, condition string) string {
		return c.MustKubectl(t, "", "get", "scaledobject", "-n", "inference", name, "-o",
			`jsonpath={.status.conditions[?(@.type=="`+condition+`")].status}`)
	}
	const target = `, target: "40"`
	create("gone", "gone", target, 2)
	create("served", llama().Name, target, 2)
	create("zero", llama().Name, target, 0)
	create("gone-without-target", "gone", "", 2)
	eventually(
		t,
		"KEDA's fallback takes over for a Forecast that does not exist",
		func() bool { return is("gone", "Fallback") == "True" },
	)
	eventually(t, "KEDA reads a Forecast", func() bool { return is("served", "Active") == "True" })
	if text := c.MustKubectl(t, "", "get", "hpa", "-n", "inference", "keda-hpa-gone", "-o",
		"jsonpath={.spec.metrics[0].external.target.averageValue}"); text != "40" {
		t.Errorf("the HPA of the missing Forecast has a target of %q, want 40", text)
	}
	if out, err := c.Kubectl(t, "", "get", "hpa", "-n", "inference", "keda-hpa-gone-without-target"); err == nil {
		t.Errorf("KEDA has created an HPA without a target: %s", out)
	}
	forewarm.stop()
	eventually(t, "KEDA notices that Forewarm is unreachable", func() bool { return is("served", "Active") != "True" })
	create("new", llama().Name, target, 2)
	time.Sleep(10 * time.Second) // Ten polls, and a fallback after three failures.
	if got := is("served", "Fallback"); got == "True" {
		t.Error("KEDA's fallback takes over while Forewarm is unreachable: docs/keda.md says the opposite")
	}
	if out, err := c.Kubectl(t, "", "get", "hpa", "-n", "inference", "keda-hpa-new"); err == nil {
		t.Errorf("KEDA has created an HPA while Forewarm was unreachable: %s", out)
	}
	for name, want := range map[string]string{"gone": "3", "served": "3", "gone-without-target": "3", "new": "3", "zero": "0"} {
		if got := c.MustKubectl(
			t,
			"",
			"get",
			"deployment",
			"-n",
			"inference",
			name,
			"-o",
			"jsonpath={.spec.replicas}",
		); got != want {
			t.Errorf("%s has %s replicas, want %s", name, got, want)
		}
	}
}

// expectOwnReading: a ScaledObject is read as the HorizontalPodAutoscaler that KEDA makes of it.
func expectOwnReading(t *testing.T, c *apiservertest.Cluster, text string) {
	t.Helper()
	var object unstructured.Unstructured
	text, _, _ = strings.Cut(text, "\n---\n")
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	var made autoscalingv2.HorizontalPodAutoscaler
	text = c.MustKubectl(t, "", "get", "hpa", "-n", "inference", "keda-hpa-llama", "-o", "json")
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	if got := autoscaler.References(autoscaler.FromHPA(&made)); len(got) > 0 {
		t.Errorf("KEDA's own counts alongside its ScaledObject: %+v", got)
	}
	// As if it were a user's own.
	made.OwnerReferences = nil
	made.Spec.Metrics[0].External.Metric = autoscalingv2.MetricIdentifier{Name: llama().Name}
	own, err := autoscaler.FromScaledObject(&object)
	if err != nil {
		t.Fatal(err)
	}
	ours, keda := autoscaler.References(own), autoscaler.References(autoscaler.FromHPA(&made))
	if len(ours) != 1 || len(keda) != 1 {
		t.Fatalf("ours %+v, KEDA's %+v", ours, keda)
	}
	keda[0].Autoscaler = ours[0].Autoscaler
	// Only the ScaledObject says that the metric is no alias, and that KEDA scales to zero.
	if !ours[0].ScalesToZero || ours[0].Alias != (snapshot.Key{}) {
		t.Errorf("of the ScaledObject: %+v", ours[0])
	}
	keda[0].Alias, keda[0].ScalesToZero = ours[0].Alias, ours[0].ScalesToZero
	if diff := cmp.Diff(keda, ours); diff != "" {
		t.Errorf("(-what KEDA made +what was read)\n%s", diff)
	}
}

func llama() snapshot.Key { return snapshot.Key{Namespace: "inference", Name: "llama-inflight"} }

// coming is a snapshot in which so much demand is ahead of the sample's Forecast.
func coming(demand float64) *snapshot.Snapshot {
	entry := snapshottest.Ready(llama())
	entry.Observed, entry.Decision.Value = 0, demand
	return snapshottest.Snapshot(entry)
}

func startSecured(t *testing.T, servers, clients *authority, snapshots *snapshot.Store) *running {
	t.Helper()
	f := files{t: t, dir: t.TempDir()}
	f.pair(servers, 100)
	f.write("ca.crt", clients.bundle())
	return start(t, f.options(), snapshots, snapshottest.Now)
}

// prepare writes the Deployment, and KEDA's certificate into KEDA's namespace, under the names of the sample.
func prepare(t *testing.T, c *apiservertest.Cluster, servers, clients *authority) {
	t.Helper()
	crds, err := exec.CommandContext(t.Context(), "go", "list", "-C", filepath.Join(apiservertest.Root(t), "hack", "components", "keda"),
		"-m", "-f", "{{.Dir}}", "github.com/kedacore/keda/v2").
		Output()
	if err != nil {
		t.Fatal(err)
	}
	c.MustKubectl(t, "", "apply", "--server-side", "-f",
		filepath.Join(strings.TrimSpace(string(crds)), "config", "crd", "bases"))
	eventually(
		t,
		"the API server knows KEDA's kinds",
		func() bool { // kubectl wait fails where there is no condition yet.
			_, err := c.Kubectl(t, "", "wait", "--for=condition=Established", "--all", "crd")
			return err == nil
		},
	)
	for _, namespace := range []string{"keda", "inference"} {
		c.MustKubectl(t, "", "create", "namespace", namespace)
	}
	f := files{t: t, dir: t.TempDir()}
	f.pair(clients, 7)
	f.write("ca.crt", servers.bundle())
	args := []string{"create", "secret", "generic", "-n", "keda", "forewarm-client"}
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		args = append(args, "--from-file="+filepath.Join(f.dir, name))
	}
	c.MustKubectl(t, "", args...)
	c.MustKubectl(t, "", "create", "deployment", "-n", "inference", "llama", "--image=llama", "--replicas=1")
}

// sample is that of deploy/samples, with this server's address and with waits for a test.
func sample(t *testing.T, address string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(apiservertest.Root(t), "deploy", "samples", "scaledobject.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("forewarm.forewarm-system.svc:9090", address, "cooldownPeriod: 300",
		"cooldownPeriod: 1\n  pollingInterval: 300").Replace(string(text))
	for document := range strings.SplitSeq(changed, "\n---\n") {
		if err := yaml.Unmarshal([]byte(document), new(map[string]any)); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

// operate runs KEDA's operator until the test ends, and is the path of its log.
func operate(t *testing.T, c *apiservertest.Cluster, folder string) string {
	t.Helper()
	own := files{t: t, dir: t.TempDir()}
	a := newAuthority(t, "keda")
	own.pair(a, 1)
	own.write("ca.crt", a.bundle())
	log, err := os.Create(filepath.Join(t.TempDir(), "keda.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.Background(), filepath.Join(folder, "keda-operator"),
		"--cert-dir="+own.dir, "--enable-prometheus-metrics=false", "--health-probe-bind-address=0",
		"--metrics-service-bind-address=127.0.0.1:0", "--zap-log-level=info")
	command.Env = append(os.Environ(), "KUBECONFIG="+apiservertest.Kubeconfig(t, rest.CopyConfig(c.Config)),
		"WATCH_NAMESPACE=", "POD_NAMESPACE=keda", "POD_NAME=keda", "KEDA_CLUSTER_OBJECT_NAMESPACE=keda")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Logf("KEDA's operator ended with %v", err)
		}
	})
	return log.Name()
}

// replicas are what the Deployment is to have.
type replicas struct {
	t   *testing.T
	c   *apiservertest.Cluster
	log string
}

// become waits until KEDA has set as many.
func (r replicas) become(want int, limit time.Duration) {
	r.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		var got struct {
			Spec struct{ Replicas int }
		}
		text := r.c.MustKubectl(r.t, "", "get", "deployment", "-n", "inference", "llama", "-o", "json")
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			r.t.Fatal(err)
		}
		if got.Spec.Replicas == want {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d replicas after %s, want %d; KEDA says:\n%s", got.Spec.Replicas, limit, want, r.tail())
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// tail are the last lines of KEDA's log, without their stack traces.
func (r replicas) tail() string {
	text, err := os.ReadFile(r.log)
	if err != nil {
		return fmt.Sprint(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, `,"stacktrace"`)
		lines = append(lines, fmt.Sprintf("%.400s", strings.TrimSpace(line)))
	}
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
