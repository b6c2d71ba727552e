package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// baseline is the Forewarm to upgrade from: one that serves the same values.
const baseline = "4ef36b1"

// apiServiceNames are those that Forewarm makes at run time.
var apiServiceNames = []string{
	"v1beta1.external.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io", "v1alpha1.inspect.forewarm.dev",
}

// TestUpgrade upgrades from the baseline with live Forecasts, HPAs and a warm pool, goes back, upgrades again and removes
// Forewarm in two orders.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	old, err := clustertest.BuildVersion(t.Context(), s.Components.Root, baseline, t.TempDir())
	if errors.Is(err, clustertest.ErrNoHistory) {
		t.Skipf("NOT TESTED: upgrade, rollback and removal: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	s.writePast(t, workloadKey{"team", "llama"}, time.Second, waves(time.Now().Add(-10*time.Minute), 600))
	// These are constant for as long as their history reaches: what is served of them does not depend on when it is asked.
	constant := map[string]float64{
		`inflight{namespace="team",app="steady"}`:                                                                 40,
		`vllm:num_requests_running{namespace="team",pod="other-0",engine="0",model_name="m"}`:                     30,
		`vllm:num_requests_waiting{namespace="team",pod="other-0",engine="0",model_name="m"}`:                     7,
		`kube_pod_owner{namespace="team",pod="other-0",owner_kind="ReplicaSet",owner_name="other-1"}`:             1,
		`kube_replicaset_owner{namespace="team",replicaset="other-1",owner_kind="Deployment",owner_name="other"}`: 1,
	}
	past := map[string][]float64{}
	for name, value := range constant {
		past[name] = slices.Repeat([]float64{value}, 3600)
		s.demand.expose(fmt.Sprintf("%s %g\n", name, value))
	}
	s.writeSeries(t, time.Second, past)
	s.observe(t)
	s.demand.follow("team", "llama", func() float64 { return waves(time.Now(), 1)[0] })
	u := &upgrade{stage: s, old: old}
	u.installBaseline(t)
	u.objects(t)
	starts, served := u.starts(t), u.served(t)
	t.Logf("%s has measured %d starts, and serves %v", baseline, starts, served)

	stop := u.watch(t)
	for _, version := range []struct {
		name  string
		root  string
		start func(*testing.T) *clustertest.Replica
	}{
		{"the upgrade", "", u.startNew}, {"the way back", u.old.Root, u.startOld}, {"the second upgrade", "", u.startNew},
	} {
		u.rollOver(t, filepath.Join(version.root, "deploy", "default"), version.start)
		u.verified(t)
		if now := u.starts(t); now < starts {
			t.Errorf("measured starts: %d before, %d after %s", starts, now, version.name)
		}
		if now := u.served(t); !maps.Equal(now, served) {
			t.Errorf("%v is served before, %v after %s", served, now, version.name)
		}
	}
	stop()

	u.removedWhileItRuns(t)
	u.removedAfterItDied(t)
}

// upgrade is a stage with the replicas of one version or two.
type upgrade struct {
	*stage
	old     clustertest.Version
	started int
}

func (u *upgrade) name() string { u.started++; return fmt.Sprintf("forewarm-%d", u.started) }

func (u *upgrade) startOld(t *testing.T) *clustertest.Replica {
	t.Helper()
	r, err := u.StartVersion(t.Context(), u.old, u.name(), "--prometheus-url="+u.prometheus.URL, "--warm-pool-step=1s")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (u *upgrade) startNew(t *testing.T) *clustertest.Replica {
	t.Helper()
	r, err := u.StartForewarm(t.Context(), u.name(), "--prometheus-url="+u.prometheus.URL, "--warm-pool-step=1s",
		"--tls-unverified-grace=10s")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (u *upgrade) installBaseline(t *testing.T) {
	t.Helper()
	if err := u.Install(t.Context(), filepath.Join(u.old.Root, "deploy", "default")); err != nil {
		t.Fatal(err)
	}
	u.MustKubectl(t, "apply", "--server-side", "-k", filepath.Join(u.old.Root, "deploy", "warm-pools"))
	u.replicas = append(u.replicas, u.startOld(t), u.startOld(t))
	if err := u.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// objects creates what is to survive, and waits until all of it works.
func (u *upgrade) objects(t *testing.T) {
	t.Helper()
	u.MustApply(t, namespace("team"), workload("team", "llama", "1s", 1),
		forecastOf("team", "llama", "leadTime: {mode: Auto, fallback: 5s}"),
		hpa("team", "llama", "llama", external("llama", "")), workload("team", "other", "1s", 1),
		hpa("team", "other", "other", object("llama")),
		forecastOf("team", "preset", "signal: {preset: vllm/inflight}", "targetRef: {kind: Deployment, name: other}"),
		forecastOf("team", "steady", "scaling: {target: 10}", "quantile: ", `objective: {late: "1%"}`),
		strings.Replace(warmPool("team", "min: 1"), "        nodeSelector: {"+shape+": team}\n", "", 1))
	u.active(t, "team", "llama", found)
	u.active(t, "team", "other", found)
	clustertest.MustEventually(t, func() string {
		if u.starts(t) == 0 {
			return "no start was measured"
		}
		return ""
	})
}

// served is what is served of constant demands: a server's own metrics, and a query with an objective.
func (u *upgrade) served(t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, name := range []string{"preset", "steady"} {
		out[name] = u.value(t, "team", name, "")
	}
	return out
}

// starts is what only the status keeps: how many starts of pods were measured.
func (u *upgrade) starts(t *testing.T) (n int) {
	t.Helper()
	for text := range strings.FieldsSeq(u.get(t, "forecast", "llama", "-n", "team", "-o", "jsonpath={.status.starts.*.count}")) {
		count, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		n += count
	}
	return n
}

// watch asks for metrics and statuses until it is stopped: each must be there, and every HPA's sync must succeed.
func (u *upgrade) watch(t *testing.T) (stop func()) {
	t.Helper()
	began := time.Now().Add(-time.Second)
	asked := 0
	stopAsking := repeat(t, 20*time.Millisecond, func() error {
		asked++
		out, err := u.Kubectl(t.Context(), "", "get", "--raw", metric("team", "llama", ""))
		if err != nil && t.Context().Err() == nil {
			t.Errorf("%.1f s after the beginning: %v%s", time.Since(began).Seconds(), err, out)
		}
		state, err := u.Kubectl(t.Context(), "", "get", "forecast/llama", "warmpool/pool", "-n", "team", "-o",
			"jsonpath={range .items[*]}{.status.state} {end}")
		if len(strings.Fields(state)) != 2 && t.Context().Err() == nil {
			t.Errorf("%.1f s after the beginning the statuses are %q (%v)", time.Since(began).Seconds(), state, err)
		}
		return nil
	})
	return func() {
		time.Sleep(3 * time.Second) // Some more HPA syncs.
		stopAsking()
		u.noSyncFailed(t, "team", began)
		t.Logf("%d requests in %.0f s", asked, time.Since(began).Seconds())
	}
}

// noSyncFailed: every sync of a namespace's HPAs since a time had its metric.
func (s *stage) noSyncFailed(t *testing.T, namespace string, since time.Time) {
	t.Helper()
	// On a busy machine the HPA controller writes a status that somebody else has written meanwhile: it had its metric.
	const conflict = "FailedUpdateStatus Operation cannot be fulfilled"
	failed := s.get(t, "events", "-n", namespace, "--field-selector=involvedObject.kind=HorizontalPodAutoscaler", "-o",
		`jsonpath={range .items[*]}{.lastTimestamp} {.reason} {.message}{"\n"}{end}`)
	for line := range strings.Lines(failed) {
		at, rest, _ := strings.Cut(line, " ")
		when, err := time.Parse(time.RFC3339, at)
		if strings.HasPrefix(rest, "Failed") && !strings.HasPrefix(rest, conflict) &&
			(err != nil || when.After(since)) {
			t.Errorf("an HPA's sync failed: %s", line)
		}
	}
}

// rollOver applies manifests and replaces the replicas as their Deployment does: a new one is ready before an old one ends.
func (u *upgrade) rollOver(t *testing.T, manifests string, start func(*testing.T) *clustertest.Replica) {
	t.Helper()
	u.MustKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", manifests)
	u.replace(t, start)
}

func (u *upgrade) replace(t *testing.T, start func(*testing.T) *clustertest.Replica) {
	t.Helper()
	for i, before := range u.replicas {
		u.replicas[i] = start(t)
		if err := u.Retire(before); err != nil {
			t.Error(err)
		}
	}
}

// verified waits until every APIService is verified and will be deleted with Forewarm.
func (u *upgrade) verified(t *testing.T) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		for _, name := range apiServiceNames {
			got := u.get(t, "apiservice", name, "-o",
				"jsonpath={.spec.insecureSkipTLSVerify}/{.metadata.ownerReferences[*].name}/{.spec.caBundle}")
			if got = strings.TrimPrefix(got, "false"); !strings.HasPrefix(got, "/forewarm:server/LS0t") {
				return name + " is not verified yet: " + got
			}
		}
		return ""
	})
}

// gone waits until there is no APIService of Forewarm's, and none comes back.
func (s *stage) gone(t *testing.T) {
	t.Helper()
	left := func() string {
		return s.get(t, "apiservices", "-o",
			`jsonpath={range .items[?(@.spec.service.name=="forewarm")]}{.metadata.name} {end}`)
	}
	clustertest.MustEventually(t, left)
	for range 10 {
		time.Sleep(500 * time.Millisecond)
		if back := left(); back != "" {
			t.Fatalf("%s came back", back)
		}
	}
}

// removedWhileItRuns: the roles go first, and the replicas run on for a while.
func (u *upgrade) removedWhileItRuns(t *testing.T) {
	t.Helper()
	u.MustKubectl(t, "delete", "-k", "deploy/default", "--wait=false")
	u.gone(t)
	for _, r := range u.replicas {
		if err := u.Retire(r); err != nil {
			t.Error(err)
		}
	}
	u.replicas = nil
	u.cleaned(t)
}

// removedAfterItDied: the replicas end without a word, then everything is removed.
func (u *upgrade) removedAfterItDied(t *testing.T) {
	t.Helper()
	if err := u.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	u.replicas = append(u.replicas, u.startNew(t))
	if err := u.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	u.MustApply(t, namespace("team"), workload("team", "llama", "1s", 1), forecastOf("team", "llama"),
		hpa("team", "llama", "llama", external("llama", "")),
		strings.Replace(warmPool("team", "min: 1"), "        nodeSelector: {"+shape+": team}\n", "", 1))
	u.active(t, "team", "llama", found)
	read := func(t *testing.T) string {
		t.Helper()
		return u.get(t, "warmpool", "pool", "-n", "team", "-o", "jsonpath={.status.held}")
	}
	clustertest.MustEventually(t, func() string {
		if held := read(t); held == "" || held == "0" {
			return "the pool holds nothing"
		}
		return ""
	})
	u.replicas[0].Kill()
	u.MustKubectl(t, "delete", "-k", "deploy/default", "--wait=false")
	u.gone(t)
	u.cleaned(t)
}

// cleaned: nothing waits for Forewarm. The namespaces, with the pools in them, can be deleted.
func (u *upgrade) cleaned(t *testing.T) {
	t.Helper()
	for _, name := range []string{"team", "forewarm-system"} {
		u.MustKubectl(
			t,
			"delete",
			"namespace",
			name,
			"--ignore-not-found",
			"--timeout="+clustertest.CheckTimeout.String(),
		)
	}
	left := func() string {
		return u.get(t, "customresourcedefinitions", "-o",
			`jsonpath={range .items[?(@.spec.group=="forewarm.dev")]}{.metadata.name} {.metadata.finalizers} {end}`)
	}
	clustertest.MustEventually(t, left)
}
