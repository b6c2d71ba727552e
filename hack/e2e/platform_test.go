package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// authorityLifetime is so short that the certificates of Forewarm's authority, and its replicas', change while the scenarios run.
const authorityLifetime = 3 * time.Minute

// TestPlatform tests what several tenants do on one Forewarm, one after the other: two cores are too few for more.
// It runs alone, before the others: a fleet of 500 takes all of two cores for minutes, and they have times to keep.
func TestPlatform(t *testing.T) {
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	s.writePast(t, workloadKey{"views", "llama"}, time.Second, waves(time.Now().Add(-10*time.Minute), 600))
	s.observe(t)
	s.forewarm(t, "deploy/default", 2, platformFlags()...)
	for _, scenario := range []struct {
		name string
		run  func(*testing.T, *stage)
	}{
		{"Selectors", selectors},
		{"Objects", objects},
		{"Pause", pauses},
		{"Tenants", tenants},
		{"Quickstart", quickstart},
		{"Fleet", fleet},
		{"Rotation", rotation},
	} {
		t.Run(scenario.name, func(t *testing.T) { scenario.run(t, s) })
	}
}

func platformFlags() []string {
	return []string{"--tls-ca-lifetime=" + authorityLifetime.String(), "--tls-leaf-lifetime=30s"}
}

// waves are 50 ± 30 with a period of about a minute, in steps of a second.
func waves(from time.Time, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 50 + 30*math.Sin(float64(from.UnixMilli())/10_000+float64(i)/10)
	}
	return out
}

// selectors: two HPAs read one Forecast with different horizons and quantiles; a third has an invalid selector, which
// its condition shows.
func selectors(t *testing.T, s *stage) {
	t.Helper()
	s.demand.follow("views", "llama", func() float64 { return waves(time.Now(), 1)[0] })
	s.MustApply(t, namespace("views"), workload("views", "near", "1s", 1), workload("views", "far", "1s", 1),
		workload("views", "wrong", "1s", 1),
		forecastOf("views", "llama", "targetRef: {kind: Deployment, name: near}"),
		hpa("views", "near", "near", external("llama", `horizon: 3s, quantile: "0.5"`)),
		hpa("views", "far", "far", external("llama", `horizon: 5m, quantile: "0.99"`)),
		hpa("views", "wrong", "wrong", external("llama", `colour: red`)))
	s.active(t, "views", "near", found)
	s.active(t, "views", "far", found)
	current := func(hpa string) int64 {
		return milliOf(`"value":"` + s.get(t, "hpa", hpa, "-n", "views", "-o",
			"jsonpath={.status.currentMetrics[0].external.current.averageValue}") + `"`)
	}
	clustertest.MustEventually(t, func() string {
		near := current("near") * int64(s.wanted(t, "near"))
		far := current("far") * int64(s.wanted(t, "far"))
		if far <= near {
			return fmt.Sprintf("the long horizon has %dm in total, the short one %dm", far, near)
		}
		return ""
	})
	s.active(t, "views", "wrong", missing)
	for _, word := range []string{"colour", "badHours, horizon, late, model, quantile, serve, variant"} {
		if message := s.condition(t, "views", "wrong", "message"); !strings.Contains(message, word) {
			t.Errorf("%q is not in the HPA's condition: %s", word, message)
		}
	}
}

// wanted returns the HPA's current replicas at its last sync.
func (s *stage) wanted(t *testing.T, hpa string) int {
	t.Helper()
	n, err := strconv.Atoi(s.get(t, "hpa", hpa, "-n", "views", "-o", "jsonpath={.status.currentReplicas}"))
	if err != nil {
		return 0
	}
	return n
}

// objects: invalid objects are rejected or have it in their status, changes take effect, deleted objects are not
// served.
func objects(t *testing.T, s *stage) {
	t.Helper()
	s.MustApply(t, namespace("objects"))
	s.demand.set("objects", "llama", 35)
	for _, c := range []struct{ line, word string }{
		{`quantile: "high"`, "quantile"},
		{"step: soon", "step"},
		{"serve: Sometimes", "serve"},
		{"signal: {query: up, preset: vllm/inflight}", "exactly one"},
	} {
		refusal := s.expectRejected(t, forecastOf("objects", "llama", c.line), "apply", "--server-side", "-f", "-")
		if !strings.Contains(refusal, c.word) {
			t.Errorf("%s: the error does not contain %q: %s", c.line, c.word, refusal)
		}
	}
	s.MustApply(
		t,
		workload("objects", "llama", "1s", 1),
		forecastOf("objects", "llama", "signal: {preset: unknown/signal}"),
		hpa("objects", "llama", "llama", external("llama", "")),
	)
	state := func(t *testing.T) string { t.Helper(); return s.state(t, "objects", "llama") }
	expect(t, "state", state, "Invalid")
	s.MustApply(t, forecastOf("objects", "llama", "serve: Shadow"))
	s.active(t, "objects", "llama", found)
	s.scaled(t, "objects", "llama", 4)
	if v := s.value(t, "objects", "llama", ""); v != 35_000 {
		t.Errorf("in mode Shadow %dm is served, want the observed 35", v)
	}
	s.MustApply(
		t,
		forecastOf("objects", "llama", "serve: Shadow", "signal: {query: '2 * sum(inflight{app=\"llama\"})'}"),
	)
	changed := time.Now()
	clustertest.MustEventually(t, func() string {
		if v := s.value(t, "objects", "llama", ""); v != 70_000 {
			return fmt.Sprintf("another query: %dm is served, want 70", v)
		}
		return ""
	})
	t.Logf("another query served after %.1f s", time.Since(changed).Seconds())
	s.scaled(t, "objects", "llama", 7)
	if _, err := s.Kubectl(t.Context(), "", "delete", "forecast", "llama", "-n", "objects"); err != nil {
		t.Fatal(err)
	}
	s.active(t, "objects", "llama", missing)
	refusal := s.expectRejected(t, "", "get", "--raw", metric("objects", "llama", ""))
	if !strings.Contains(refusal, "NotFound") {
		t.Errorf("a deleted Forecast's metric: %s", refusal)
	}
	s.scaled(t, "objects", "llama", 7)
}

// tenants can read only their own data, by the APIs and by queries.
func tenants(t *testing.T, s *stage) {
	t.Helper()
	s.demand.set("mine", "llama", 11)
	s.demand.set("theirs", "llama", 666)
	s.MustApply(t, namespace("mine"), namespace("theirs"), workload("mine", "llama", "1s", 1),
		forecastOf("mine", "llama", "signal: {query: sum(inflight)}", "serve: Shadow"), forecastOf("theirs", "llama"),
		forecastOf("mine", "greedy", `signal: {query: 'sum(inflight{namespace="theirs"})'}`), `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: mine}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: default, namespace: mine}]
`)
	if v := s.value(t, "mine", "llama", ""); v != 11_000 {
		t.Errorf("a tenant's query returns %dm, want its own 11: it has data of another namespace", v)
	}
	conditions := func() string {
		return s.get(t, "forecast", "greedy", "-n", "mine", "-o", "jsonpath={.status.conditions}")
	}
	clustertest.MustEventually(t, func() string {
		if text := conditions(); !strings.Contains(text, "--cluster-query-namespaces") {
			return "a query of another namespace is not rejected: " + text
		}
		return ""
	})
	const tenant = "--as=system:serviceaccount:mine:default"
	outlook := func(namespace string) string {
		return "/apis/inspect.forewarm.dev/v1alpha1/namespaces/" + namespace + "/outlooks/llama"
	}
	for _, path := range []string{metric("mine", "llama", ""), outlook("mine"), outlook("mine") + "/page"} {
		clustertest.MustEventually(t, func() string {
			if _, err := s.Kubectl(t.Context(), "", "get", "--raw", path, tenant); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	for _, path := range []string{
		metric("theirs", "llama", ""), outlook("theirs"), outlook("theirs") + "/plot",
		"/apis/inspect.forewarm.dev/v1alpha1/outlooks",
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/theirs/forecasts.forewarm.dev/llama/demand",
	} {
		if refusal := s.expectRejected(t, "", "get", "--raw", path, tenant); !strings.Contains(refusal, "Forbidden") {
			t.Errorf("%s as a tenant of another namespace: %s", path, refusal)
		}
		if code := anonymous(t, s.Config.Host+path, s.Trust()); code != http.StatusUnauthorized &&
			code != http.StatusForbidden {
			t.Errorf("%s without credentials, by the kube-apiserver: %d", path, code)
		}
		direct := anonymous(t, s.replicas[0].URL+path, clustertest.Unverified())
		if direct != http.StatusUnauthorized && direct != http.StatusForbidden {
			t.Errorf("%s without credentials, directly: %d", path, direct)
		}
	}
}

// anonymous sends a request without credentials.
func anonymous(t *testing.T, url string, trust *tls.Config) int {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: trust}}
	defer client.CloseIdleConnections()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}

// rotation: the authority and both replicas' certificates change while Fleet's 500 HPAs sync, and no request of theirs
// or of kubectl fails.
func rotation(t *testing.T, s *stage) {
	t.Helper()
	s.demand.set("rotation", "llama", 25)
	s.MustApply(t, namespace("rotation"), workload("rotation", "llama", "1s", 1), forecastOf("rotation", "llama"),
		hpa("rotation", "llama", "llama", external("llama", "")))
	s.active(t, "rotation", "llama", found)
	before, began := s.authorities(t), time.Now()
	asked := 0
	stop := repeat(t, 20*time.Millisecond, func() error {
		asked++
		_, err := s.Kubectl(t.Context(), "", "get", "--raw", metric("rotation", "llama", ""))
		return err
	})
	err := clustertest.Eventually(t.Context(), 2*authorityLifetime, func(context.Context) error {
		for i, now := range s.authorities(t) {
			if now == before[i] {
				return fmt.Errorf("replica %d still serves with a certificate by %s", i, now)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // Some more HPA syncs.
	stop()
	t.Logf("%d requests while the certificates changed", asked)
	s.active(t, "rotation", "llama", found)
	for _, where := range []string{"rotation", "fleet"} {
		failures := s.get(t, "events", "-n", where, "--field-selector=reason="+missing, "-o",
			"jsonpath={.items[*].lastTimestamp}")
		for text := range strings.FieldsSeq(failures) {
			if at, err := time.Parse(time.RFC3339, text); err != nil || at.After(began) {
				t.Errorf("an HPA in %s missed its metric at %s, certificates changed from %s on (%v)", where, text,
					began, err)
			}
		}
	}
}

// authorities are the keys that signed the replicas' certificates.
func (s *stage) authorities(t *testing.T) []string {
	t.Helper()
	client, err := s.Administrator()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range s.replicas {
		response, err := client.Get(r.URL + "/livez")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, hex.EncodeToString(response.TLS.PeerCertificates[0].AuthorityKeyId))
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	return out
}

// fleet tests 500 Forecasts and HPAs at once.
func fleet(t *testing.T, s *stage) {
	t.Helper()
	s.fleet(t, 500)
}

// fleet creates as many HPAs with a Forecast each at once, and logs what that costs until all have scaled.
func (s *stage) fleet(t *testing.T, n int) {
	t.Helper()
	begin, before := time.Now(), s.spent(nil)
	var kinds [3][]string
	for i := range n {
		name := fmt.Sprintf("model-%d", i)
		s.demand.set("fleet", name, float64(5+10*(i%2)))
		// Without GPUs: the cluster does not have as many.
		deployment := strings.Replace(workload("fleet", name, "1s", 1), `nvidia.com/gpu: "1"`, `cpu: "100m"`, 1)
		for kind, manifest := range []string{
			deployment, forecastOf("fleet", name, "step: 15s"), hpa("fleet", name, name, external(name, "")),
		} {
			kinds[kind] = append(kinds[kind], manifest)
		}
	}
	s.MustApply(t, namespace("fleet"))
	var creating sync.WaitGroup
	for _, manifests := range kinds {
		creating.Go(func() {
			if _, err := s.Kubectl(t.Context(), strings.Join(manifests, "\n---\n"), "create", "-f", "-"); err != nil {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	t.Logf("%d of each created after %.1f s", n, time.Since(begin).Seconds())
	const reason = `jsonpath={range .items[*]}{.status.conditions[?(@.type=="ScalingActive")].reason} {end}`
	clustertest.MustEventually(t, func() string {
		if got := strings.Count(s.get(t, "hpa", "-n", "fleet", "-o", reason), found); got != n {
			return fmt.Sprintf("%d of %d HPAs have their metric", got, n)
		}
		return ""
	})
	clustertest.MustEventually(t, func() string {
		replicas := s.get(t, "deployments", "-n", "fleet", "-o",
			"jsonpath={range .items[*]}{.status.readyReplicas} {end}")
		if one, two := strings.Count(replicas, "1 "), strings.Count(replicas+" ", "2 "); one+two != n || two != n/2 {
			return fmt.Sprintf("%d Deployments with one ready replica and %d with two, want half and half", one, two)
		}
		return ""
	})
	t.Logf("%d HPAs scaled after %.1f s; CPU seconds: %v", n, time.Since(begin).Seconds(), s.spent(before))
	for i, r := range s.replicas {
		t.Logf("replica %d holds %d MiB", i, r.ResidentMiB())
	}
	s.updateOfFleet(t)
}

// updateOfFleet replaces a replica. The new one answers from the newest history first, and is ready when it has all of it: another one
// serves meanwhile, so no HPA misses its metric.
func (s *stage) updateOfFleet(t *testing.T) {
	t.Helper()
	begin := time.Now()
	flags := append(platformFlags(), "--prometheus-url="+s.prometheus.URL)
	updated, err := s.StartForewarm(t.Context(), "forewarm-updated", flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a new replica was ready after %.1f s", time.Since(begin).Seconds())
	metrics, err := s.ask(updated.URL + "/metrics")
	if err != nil || !strings.Contains(metrics, "\nforewarm_partial_forecasts 0\n") {
		t.Errorf("a replica is ready with parts of histories while another one serves (%v)", err)
	}
	log, err := os.ReadFile(updated.Log)
	if err != nil || !strings.Contains(string(log), "answer from their newest history") {
		t.Errorf("the new replica read all histories at once (%v)", err)
	}
	if err := s.Retire(s.replicas[0]); err != nil {
		t.Error(err)
	}
	s.replicas[0] = updated
	time.Sleep(3 * s.Sync)
	s.noSyncFailed(t, "fleet", begin)
}
