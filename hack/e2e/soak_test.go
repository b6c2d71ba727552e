package e2e_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

const (
	// A soak has so many Forecasts in so many namespaces, of which the last ones read from a source that is slow and fails.
	soakForecasts, soakNamespaces, soakShaky = 2000, 20, 4
	// soakHPAs read as many of the Forecasts, through the aggregator; everybody else sends soakRate requests a second.
	soakHPAs, soakRate = 50, 950
	// soakUnderWay is what a kube-apiserver lets through at once by default: --max-requests-inflight and --max-mutating-requests-inflight.
	soakUnderWay = 400 + 200
	soakPools    = 3
	soakStep     = 30 * time.Second
	// killingPart is the part of the time in which leaders are killed.
	killingPart = 3
	// soakWarmUp is the time in which each replica is asked for each Forecast once, which takes a review of each.
	soakWarmUp = 15 * time.Second
	// soakPause is the least time between two kube-apiservers that are killed: on two cores all that has waited for one takes a minute.
	soakPause = 3 * time.Minute
	// soakPatience is how long a replica waits for histories before it is ready.
	soakPatience = 10 * time.Minute
)

// soakLength is how long a soak takes.
func soakLength(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("FOREWARM_SOAK")
	if text == "" {
		t.Skip("FOREWARM_SOAK is unset: run `make soak`")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return length
}

// TestSoak lets two replicas serve a fleet for minutes or hours while objects come, change and go, a source is slow and fails,
// certificates rotate and the kube-apiserver is killed; for the first third of the time the leader is killed, too, whenever the other
// replica has all histories. Then memory, goroutines, descriptors and latency must be flat. Both replicas give the same value of the
// same samples, also one that has just read the history again, for which the other's values are the replay.
//
// The clock is not set: that would be the machine's. pkg/refresh tests it.
func TestSoak(t *testing.T) {
	length := soakLength(t)
	s := setUp(t, clustertest.Options{Sync: 5 * time.Second, Stabilization: time.Second})
	shaky := s.soakSources(t)
	s.soakObjects(t)
	load := s.startSoakLoad(t)
	pools := s.watchSoakPools(t)
	begun := time.Now()
	report := &soakReport{test: t, begun: begun, failures: s.failures(t)}
	defer func() {
		if t.Failed() {
			report.print(s, load)
		}
	}()
	stopLoad := load.run(t)
	stops := []func(){
		repeat(
			t,
			500*time.Millisecond,
			s.churn(t),
		),
		repeat(t, 15*time.Second, func() error { shaky.next(); return nil }),
		repeat(t, 5*time.Second, func() error { report.note(s); return nil }),
		pools.run(t),
	}
	time.Sleep(soakWarmUp)
	restarts := time.NewTicker(max(length/12, soakPause))
	defer restarts.Stop()
	kills := 0
	for kills == 0 || time.Since(begun) < length/killingPart {
		kills++
		s.killSoakLeader(t, load, report)
		select {
		case <-restarts.C:
			report.restartAPIServer(s, load)
		default:
		}
	}
	t.Logf("%d leaders killed in %s; from now on all live", kills, time.Since(begun).Round(time.Second))
	report.calm()
	for time.Since(begun) < length {
		select {
		case <-restarts.C:
			report.restartAPIServer(s, load)
		case <-time.After(time.Second):
		}
	}
	for _, stop := range stops {
		stop()
	}
	stopLoad()
	report.print(s, load)
	report.expectSyncs(s)
	pools.expect(t)
}

// faults are what a shakySource does in turns.
var faults = []string{"", "slow", "", "fails", "", "hangs", "", "cuts"}

// shakySource is a Prometheus behind a proxy that is slow, fails, hangs and cuts answers short, in turns.
type shakySource struct {
	address string
	mode    atomic.Int64
}

func (p *shakySource) next() { p.mode.Add(1) }

func newShakySource(t *testing.T, to string) *shakySource {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = nil
	p := &shakySource{}
	p.address = serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch faults[int(p.mode.Load())%len(faults)] {
		case "slow":
			time.Sleep(2 * time.Second)
		case "fails":
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
			return
		case "hangs":
			_ = r.FormValue("query") // Until its body is read, a server does not see that the client is gone.
			<-r.Context().Done()
			return
		case "cuts":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return p
}

// soakSources starts the Prometheus and two replicas, whose namespaces read from it directly or through the shaky proxy.
func (s *stage) soakSources(t *testing.T) *shakySource {
	t.Helper()
	s.writeSoakPast(t)
	var err error
	if s.prometheus, err = s.StartPrometheus(t.Context(), fmt.Sprintf(`
global: {scrape_interval: 5s, scrape_timeout: 5s}
scrape_configs:
  - job_name: demand
    honor_labels: true
    static_configs: [{targets: [%q]}]
`, s.demand.address)); err != nil {
		t.Fatal(err)
	}
	shaky := newShakySource(t, s.prometheus.URL)
	var behind []string
	for i := soakNamespaces - soakShaky; i < soakNamespaces; i++ {
		behind = append(behind, soakNamespace(i))
	}
	file := filepath.Join(s.Dir, "sources.yaml")
	text := fmt.Sprintf(
		"sources:\n  - {name: shaky, url: \"http://%s\", namespaces: [%s]}\n  - {name: good, url: %q, namespaces: [\"*\"]}\n",
		shaky.address,
		strings.Join(behind, ", "),
		s.prometheus.URL,
	)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), "deploy/default"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Kubectl(t.Context(), "", "apply", "--server-side", "-k", "deploy/warm-pools"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r, err := s.StartTraced(t.Context(), fmt.Sprintf("forewarm-%d", i), append(platformFlags(),
			"--sources-file="+file, "--warm-pool-step=5s", "--max-forecasts-per-namespace=0", "--query-timeout=10s")...)
		if err != nil {
			t.Fatal(err)
		}
		s.replicas = append(s.replicas, r)
	}
	if err := s.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return shaky
}

// soakDemand is the demand of a Forecast at a time.
func soakDemand(i int, at time.Time) float64 {
	return math.Round(30 + 20*math.Sin(float64(at.Unix())/120+float64(i)))
}

// writeSoakPast writes the whole history of all: memory that fills with the first hour would look like a leak.
func (s *stage) writeSoakPast(t *testing.T) {
	t.Helper()
	const past = 70 * time.Minute
	end, series := time.Now(), map[string][]float64{}
	for i := range soakForecasts {
		key := soakName(i)
		values := make([]float64, int(past/soakStep))
		for at := range values {
			values[at] = soakDemand(i, end.Add(time.Duration(at-len(values))*soakStep))
		}
		series[fmt.Sprintf("inflight{namespace=%q,app=%q}", key.namespace, key.name)] = values
	}
	s.writeSeriesUntil(t, end, soakStep, series)
}

func soakNamespace(i int) string { return fmt.Sprintf("soak-%d", i) }

// soakName is the namespace and the name of a Forecast.
func soakName(i int) workloadKey {
	return workloadKey{soakNamespace(i % soakNamespaces), fmt.Sprintf("model-%d", i)}
}

// soakObjects creates the Forecasts, the HPAs of the first, and the pools.
func (s *stage) soakObjects(t *testing.T) {
	t.Helper()
	var spaces, forecasts, others []string
	for i := range soakNamespaces {
		spaces = append(spaces, namespace(soakNamespace(i)))
	}
	for i := range soakForecasts {
		key := soakName(i)
		s.demand.follow(key.namespace, key.name, func() float64 { return soakDemand(i, time.Now()) })
		lines := []string{"step: " + soakStep.String()}
		if i%2 == 1 {
			lines = append(lines, "quantile: ", `objective: {late: "1%"}`, `scaling: {target: "10", maxReplicas: 20}`)
		}
		forecasts = append(forecasts, forecastOf(key.namespace, key.name, lines...))
		if i < soakHPAs {
			deployment := strings.Replace(
				workload(key.namespace, key.name, "1s", 1),
				`nvidia.com/gpu: "1"`,
				`cpu: "100m"`,
				1,
			)
			others = append(others, deployment, hpa(key.namespace, key.name, key.name, external(key.name, "")))
		}
	}
	for i := range soakPools {
		ns := fmt.Sprintf("soak-pool-%d", i)
		spaces = append(spaces, namespace(ns))
		s.demand.set(ns, "llama", 35)
		others = append(others, workload(ns, "llama", "1s", 1), forecastOf(ns, "llama"), warmPool(ns, "min: 2"))
	}
	spaces = append(spaces, namespace("churn"))
	for _, kind := range [][]string{spaces, forecasts, others} {
		if _, err := s.Kubectl(t.Context(), strings.Join(kind, "\n---\n"), "create", "-f", "-"); err != nil {
			t.Fatal(err)
		}
	}
	err := clustertest.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		for _, r := range s.replicas {
			metrics, err := s.ask(r.URL + "/metrics")
			if err != nil {
				return err
			}
			served := strings.Count(metrics, "\nforewarm_served_value{")
			if served < soakForecasts || !strings.Contains(metrics, "\nforewarm_partial_forecasts 0\n") {
				return fmt.Errorf("%d of %d Forecasts are served by %s", served, soakForecasts, r.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d Forecasts after %.0f s", soakForecasts, time.Since(s.begin).Seconds())
}

// churn returns what makes, changes or deletes an object.
func (s *stage) churn(t *testing.T) func() error {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	forecasts := client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")).Namespace("churn")
	draw := rand.New(rand.NewPCG(1, 45)) //nolint:gosec // A test's draws.
	return func() error {
		name := fmt.Sprintf("model-%d", draw.IntN(100))
		s.demand.set("churn", name, float64(draw.IntN(100)))
		if draw.IntN(3) == 0 {
			_ = forecasts.Delete(t.Context(), name, metav1.DeleteOptions{}) //nolint:errcheck // It may not be there.
			return nil
		}
		object := &unstructured.Unstructured{}
		text := forecastOf("churn", name, fmt.Sprintf(`quantile: "0.%d"`, 50+draw.IntN(49)), "step: 5s")
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			return err
		}
		applied := metav1.ApplyOptions{FieldManager: "soak", Force: true}
		_, err := forecasts.Apply(t.Context(), name, object, applied)
		_ = err // While the kube-apiserver is away it fails.
		return nil
	}
}

// killSoakLeader kills the replica that holds the lease, and starts it again. It returns when that has all histories.
func (s *stage) killSoakLeader(t *testing.T, load *soakLoad, report *soakReport) {
	t.Helper()
	holder := s.get(t, "lease", "forewarm", "-n", "forewarm-system", "-o", "jsonpath={.spec.holderIdentity}")
	for i, r := range s.replicas {
		if !strings.HasSuffix(holder, fmt.Sprintf("_%d", r.PID())) {
			continue
		}
		report.died(r)
		load.up[i].Store(false)
		s.Crash(r)
		begun := time.Now()
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond) //nolint:gosec // A test's draw.
		if err := s.Recover(t.Context(), r, soakPatience+time.Minute); err != nil {
			t.Fatal(err)
		}
		load.up[i].Store(true)
		if n := s.gauge(r, "forewarm_partial_forecasts"); n > soakForecasts/soakNamespaces*soakShaky {
			t.Logf("%s is ready with a part of %d histories", r.Name, n)
			load.wholeFrom[i].Store(begun.Add(soakPatience).Unix())
		}
		report.recoveries = append(report.recoveries, time.Since(begun))
	}
	time.Sleep(5 * time.Second)
}

// failures are the syncs of each HPA that failed.
func (s *stage) failures(t *testing.T) map[string]int {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	events, err := client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + missing})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i := range events.Items {
		e := &events.Items[i]
		out[e.InvolvedObject.Name] += max(1, int(e.Count), seriesCount(e))
	}
	return out
}

func seriesCount(e *corev1.Event) int {
	if e.Series == nil {
		return 0
	}
	return int(e.Series.Count)
}

// openDescriptors of a process, by Linux' /proc.
func openDescriptors(pid int) int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(all)
}

// gauge is a metric of a replica; 0 where it does not answer.
func (s *stage) gauge(r *clustertest.Replica, name string) int {
	metrics, err := s.ask(r.URL + "/metrics")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(metrics, "\n"+name+" ")
	text, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(text) //nolint:errcheck // The library writes numbers.
	return n
}
