package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// asForewarm makes this test's own program behave as forewarm.
const asForewarm = "FOREWARM_TEST_AS_FOREWARM"

func TestMain(m *testing.M) {
	if os.Getenv(asForewarm) != "" {
		main()
	}
	os.Exit(m.Run())
}

const (
	system  = "forewarm-system"
	account = "system:serviceaccount:forewarm-system:forewarm"
	metric  = "/apis/external.metrics.k8s.io/v1beta1/namespaces/team/load"
	object  = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/team/forecasts.forewarm.dev/load/demand"
)

// forecast is one over the waves that every query answers with.
func forecast(name, signal, quantile string) string {
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %s, namespace: team}
spec:
  targetRef: {kind: Deployment, name: llama}
  signal: {%s}
  quantile: %q
  step: 1s
  history: 10m
  leadTime: {mode: Fixed, duration: 5s}
`, name, signal, quantile)
}

// waves answers every range query with one series, the same to every client: 100 ± 20 in waves of five minutes.
func waves(w http.ResponseWriter, r *http.Request) { wavesUntil(w, r, math.Inf(1)) }

// wavesUntil answers as a store whose newest sample is of a time: later, that one counts.
func wavesUntil(w http.ResponseWriter, r *http.Request, newest float64) {
	start, err1 := strconv.ParseFloat(r.FormValue("start"), 64)
	end, err2 := strconv.ParseFloat(r.FormValue("end"), 64)
	step, err3 := strconv.ParseFloat(r.FormValue("step"), 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var points []string
	for at := start; at <= end; at += step {
		points = append(points, fmt.Sprintf(`[%.3f,"%.3f"]`, at, 100+20*math.Sin(min(at, newest)*2*math.Pi/300)))
	}
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[%s]}]}}`,
		strings.Join(points, ","))
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	within(t, time.Minute, wrong)
}

func within(t *testing.T, patience time.Duration, wrong func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		text := wrong()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s still: %s", patience, text)
		}
	}
}

// scene is two replicas in a cluster.
type scene struct {
	*apiservertest.Cluster
	replicas []*replica
}

// wrong is what is wrong with a metric that the kube-apiserver passes on; nothing where it is one item with a value.
func (s *scene) wrong(t *testing.T, path string) string {
	t.Helper()
	out, err := s.Kubectl(t, "", "get", "--raw", path)
	if err != nil {
		return out
	}
	var list struct {
		Items []struct {
			Value string `json:"value"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 1 || list.Items[0].Value == "" {
		return fmt.Sprintf("one item with a value is wanted (%v): %s", err, out)
	}
	return ""
}

// serves waits until a metric has a value.
func (s *scene) serves(t *testing.T, path string) {
	t.Helper()
	eventually(t, func() string { return s.wrong(t, path) })
}

func TestServeInACluster(t *testing.T) {
	s := &scene{Cluster: apiservertest.Start(t)}
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/fleets")
	s.MustKubectl(t, "", "create", "namespace", "team")
	s.MustKubectl(t, forecast("load", "query: up", "0.9")+fleetOfLoad, "apply", "-f", "-")
	for range 2 {
		flags := []string{"--prometheus-url=" + history.URL, "--fleets", "--fleet-nodes"}
		s.replicas = append(s.replicas, start(t, s.Cluster, flags...))
	}
	s.Route(t, system, "forewarm", s.replicas[1].port(t), 3)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *scene)
	}{
		{"MetricsThroughTheAggregator", metrics},
		{"SelectorsCostNoReview", selectors},
		{"ReplicasAgree", agreement},
		{"ObjectsComeChangeAndGo", objects},
		{"AnObjectiveIsTold", objective},
		{"AFleetIsPlanned", gpuFleet},
		{"AWarmPoolIsHeld", warmPool},
		{"AStolenAPIServiceIsNoticed", theft},
		{"AGroupIsHandedOverAndBack", handover},
		{"CertificatesAreVerified", certificates},
		{"AnEmptiedAuthorityIsRestored", emptied},
		{"TheLeaderGivesItsLeaseBack", succession},
		{"TheLogIsQuiet", quiet},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
}

func metrics(t *testing.T, s *scene) {
	t.Helper()
	s.serves(t, metric)
	s.serves(t, object)
	s.serves(t, metric+"?labelSelector=quantile%3D0.99,horizon%3D30s")
	for _, c := range []struct {
		name, word string
		args       []string
	}{
		{"a table of outlooks", "load", []string{"get", "outlooks", "-n", "team"}},
		{"a page", "<svg", []string{"get", "--raw", "/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load/page"}},
		{"a selector of no known key", "horizon", []string{"get", "--raw", metric + "?labelSelector=color%3Dred"}},
		{"a metric that no one forecasts", "NotFound", []string{"get", "--raw", metric + "s"}},
		{"a stranger", "Forbidden", []string{"get", "--raw", metric, "--as=stranger"}},
	} {
		if out, err := s.Kubectl(t, "", c.args...); !strings.Contains(out, c.word) {
			t.Errorf("%s: %q is not in\n%.1000s (%v)", c.name, c.word, out, err)
		}
	}
}

// selectors: an allowed reader is allowed whatever the selector, without the kube-apiserver being asked again.
func selectors(t *testing.T, s *scene) {
	t.Helper()
	reviews := func() (n int) {
		for _, event := range s.Audit(t) {
			if event.User.Username == account && strings.Contains(event.RequestURI, "subjectaccessreviews") {
				n++
			}
		}
		return n
	}
	s.serves(t, metric)
	before := reviews()
	if before == 0 {
		t.Fatal("the audit log shows no review at all")
	}
	for i := range 30 {
		s.serves(t, fmt.Sprintf("%s?labelSelector=quantile%%3D0.%d", metric, 60+i))
	}
	if n := reviews() - before; n > 1 { // The one that was remembered may end in between.
		t.Errorf("%d reviews for 30 selectors", n)
	}
}

func agreement(t *testing.T, s *scene) {
	t.Helper()
	const path = metric + "?labelSelector=quantile%3D0.987"
	eventually(t, func() string {
		item := func(r *replica) string {
			_, body := r.get(t, path)
			_, item, _ := strings.Cut(body, `"items":`)
			return item
		}
		if one, other := item(s.replicas[0]), item(s.replicas[1]); one != other || one == "" {
			return fmt.Sprintf("the replicas say %s and %s", one, other)
		}
		return ""
	})
}

// status is a part of a Forecast's status, by JSON path.
func (s *scene) status(t *testing.T, name, path string) string {
	t.Helper()
	return s.MustKubectl(t, "", "get", "forecast", name, "-n", "team", "-o", "jsonpath={.status."+path+"}")
}

func objects(t *testing.T, s *scene) {
	t.Helper()
	s.MustKubectl(t, forecast("wrong", "preset: vllm/in-flight", "0.9"), "apply", "-f", "-")
	eventually(t, func() string {
		if text := s.status(t, "wrong", "conditions"); !strings.Contains(text, "vllm/inflight") {
			return "the status does not name the preset that is meant: " + text
		}
		return ""
	})
	if text := s.status(t, "load", "state"); text != "Ready" && text != "Warming" {
		t.Errorf("next to a wrong one, a right Forecast is %q", text)
	}
	s.MustKubectl(t, forecast("load", "query: up", "0.55"), "apply", "-f", "-")
	eventually(t, func() string {
		generations := s.MustKubectl(t, "", "get", "forecast", "load", "-n", "team",
			"-o", "jsonpath={.metadata.generation} {.status.observedGeneration}")
		if generations != "2 2" {
			return "generation and observed generation: " + generations
		}
		return ""
	})
	s.MustKubectl(t, "", "delete", "forecast", "wrong", "-n", "team")
	eventually(t, func() string {
		if text := s.wrong(t, strings.TrimSuffix(metric, "load")+"wrong"); !strings.Contains(text, "NotFound") {
			return "a deleted Forecast answers " + text
		}
		return ""
	})
}

// objective: of one that has seen ten minutes nothing is known yet, and every face says so.
func objective(t *testing.T, s *scene) {
	t.Helper()
	asked := strings.Replace(forecast("asked", "query: up", "0.9"), `quantile: "0.9"`,
		`objective: {late: "2%", wait: 10s}
  scaling: {target: "20", maxReplicas: 9}`, 1)
	s.MustKubectl(t, asked, "apply", "-f", "-")
	eventually(t, func() string {
		told := s.status(t, "asked", "objective.asked") + "; " + s.status(t, "asked", "objective.verdict") + "; " +
			s.status(t, "asked", `conditions[?(@.type=="ObjectiveMet")].reason`)
		if told != "2% late over 60 minutes, wait 10s; Learning; Learning" {
			return "the status says " + told
		}
		return ""
	})
	table := s.MustKubectl(t, "", "get", "outlooks", "-n", "team", "-l", "inspect.forewarm.dev/objective=Learning")
	if !strings.Contains(table, "asked") || !strings.Contains(table, "2% late") || strings.Contains(table, "load") {
		t.Errorf("kubectl get outlooks by verdict:\n%s", table)
	}
	if _, body := s.replicas[0].get(t, "/metrics"); !strings.Contains(body, "forewarm_objective_late_ratio{") {
		t.Error("the objective is not on /metrics")
	}
	s.MustKubectl(t, "", "delete", "forecast", "asked", "-n", "team")
}

// theft: another's manifest takes external.metrics.k8s.io without a word, as kubectl apply does, and gives it back.
func theft(t *testing.T, s *scene) {
	t.Helper()
	lead := func(to string) {
		s.MustKubectl(t, "", "patch", "apiservice", "v1beta1.external.metrics.k8s.io", "--type=merge", "-p",
			fmt.Sprintf(`{"spec": {"service": {"namespace": %q, "name": %q}}}`, system, to))
	}
	reachable := func(want string) {
		eventually(t, func() string {
			if text := s.status(t, "load",
				`conditions[?(@.type=="Reachable")].message`); !strings.Contains(text, want) {
				return "the status does not say that it " + want + ": " + text
			}
			return ""
		})
	}
	told := func(reason string) {
		eventually(t, func() string {
			events := s.MustKubectl(t, "", "get", "events", "-n", system,
				"--field-selector=involvedObject.name=forewarm", "-o", "jsonpath={.items[*].reason}")
			if !strings.Contains(events, reason) {
				return "the events are " + events
			}
			return ""
		})
	}
	owner := func(want string) {
		eventually(t, func() string {
			got := s.MustKubectl(t, "", "get", "apiservice", "v1beta1.external.metrics.k8s.io", "-o",
				"jsonpath={.metadata.ownerReferences[*].name}")
			if got != want {
				return fmt.Sprintf("the APIService belongs to %q, want %q", got, want)
			}
			return ""
		})
	}
	reachable("external.metrics.k8s.io leads to Forewarm")
	owner("forewarm:server")
	lead("thief")
	reachable("external.metrics.k8s.io leads to " + system + "/thief")
	owner("") // Or the thief's would be deleted with Forewarm.
	told("APIServiceTaken")
	const gauge = `forewarm_api_group_held{group="external.metrics.k8s.io"} 0`
	if _, body := s.replicas[0].get(t, "/metrics"); !strings.Contains(body, gauge) {
		t.Errorf("%s is not on /metrics", gauge)
	}
	lead("forewarm")
	reachable("external.metrics.k8s.io leads to Forewarm")
	owner("forewarm:server")
	told("APIServiceHeld")
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.external.metrics.k8s.io")
	s.Route(t, system, "forewarm", s.replicas[1].port(t), 3)
	s.serves(t, metric)
}

// succession: the leader is asked to end; the other leads at once, and not only when the lease has run out.
func succession(t *testing.T, s *scene) {
	t.Helper()
	holder := func() string {
		return s.MustKubectl(t, "", "get", "lease", "forewarm", "-n", system, "-o", "jsonpath={.spec.holderIdentity}")
	}
	leader, other := s.replicas[0], s.replicas[1]
	if strings.HasSuffix(holder(), fmt.Sprintf("_%d", other.command.Process.Pid)) {
		leader, other = other, leader
	}
	leader.stop(t)
	if still := holder(); strings.HasSuffix(still, fmt.Sprintf("_%d", leader.command.Process.Pid)) {
		t.Errorf("the lease is still held by %s, which has ended", still)
	}
	eventually(t, func() string {
		if next := holder(); !strings.HasSuffix(next, fmt.Sprintf("_%d", other.command.Process.Pid)) {
			return "the lease is held by " + next
		}
		return ""
	})
	written := s.status(t, "load", "observed")
	// Numbers are written once a minute, and the new leader may just have done so.
	within(t, 2*time.Minute, func() string {
		if now := s.status(t, "load", "observed"); now == written {
			return "the status stays as it was at " + written
		}
		return ""
	})
}

// quiet: in all of this there was nothing to worry anybody with, but for the wrong object, the theft, the group that
// is handed back and the emptied Secret.
func quiet(t *testing.T, s *scene) {
	t.Helper()
	for _, r := range s.replicas {
		for line := range strings.Lines(r.said(t)) {
			var entry struct {
				Level     string `json:"level"`
				Message   string `json:"msg"`
				Component string `json:"component"`
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Errorf("a log line that is no JSON: %s", line)
				continue
			}
			known := strings.Contains(line, "vllm/in-flight") || strings.Contains(line, "thief") ||
				strings.Contains(line, "external.metrics.k8s.io now leads nowhere; previously it led to Forewarm") ||
				strings.Contains(
					line,
					"external.metrics.k8s.io now leads to monitoring/adapter; previously it led to Forewarm",
				) ||
				strings.Contains(line, "forewarm-ca with the certificate authority is empty")
			if entry.Level != "INFO" && !known {
				t.Errorf("log: %s", line)
			}
		}
	}
}
