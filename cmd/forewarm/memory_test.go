package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// A tenant creates Forecasts and WarmPools of 1.4 MB each, by labels. A replica that watches while they are
// created, and one that is started after that, take as much memory as with the same objects without the labels.
func TestLargeObjectsTakeNoMemory(t *testing.T) {
	const size = 1_400_000
	many, allowed := 60, 1.3                 // In a short test, chance is a large part of the peak.
	if os.Getenv("FOREWARM_OBJECTS") != "" { // make bench-objects
		many, allowed = 500, 1.15
	}
	each := many / 2
	s := &scene{Cluster: apiservertest.Start(t)}
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	peaks := map[string]int{}
	for _, phase := range []struct {
		name   string
		labels map[string]string
	}{{"small", nil}, {"large", labelsOf(size)}} {
		s.MustKubectl(t, "", "create", "namespace", phase.name)
		running := start(t, s.Cluster, "--prometheus-url="+history.URL)
		s.fill(t, phase.name, each, phase.labels)
		s.told(t, phase.name, each)
		peaks[phase.name+", while they are created"] = running.peak(t)
		running.stop(t)
		var after []int
		for range 3 { // How much garbage there is at the peak is chance.
			restarted := start(t, s.Cluster, "--prometheus-url="+history.URL)
			time.Sleep(10 * time.Second)
			after = append(after, restarted.peak(t))
			restarted.stop(t)
		}
		slices.Sort(after)
		t.Logf("%s, after restarts: %d", phase.name, after)
		peaks[phase.name+", after a restart"] = after[1]
		if phase.labels == nil {
			s.MustKubectl(t, "", "delete", "forecasts,warmpools", "--all", "-n", phase.name)
		}
	}
	for _, when := range []string{", while they are created", ", after a restart"} {
		small, large := peaks["small"+when], peaks["large"+when]
		t.Logf("%d objects%s: at most %d MiB, with 1.4 MB of labels each %d MiB", many, when, small>>20, large>>20)
		if float64(large) > allowed*float64(small) {
			t.Errorf("objects of 1.4 MB%s take %.2f times the memory of small ones, want at most %.2f", when,
				float64(large)/float64(small), allowed)
		}
	}
}

// labelsOf returns labels of a size in bytes.
func labelsOf(size int) map[string]string {
	out, prefix := map[string]string{}, strings.Repeat(strings.Repeat("a", 60)+".", 4)
	for i := 0; size > 0; i++ {
		key := fmt.Sprintf("%06d.%s", i, prefix[:239]) + "/" + strings.Repeat("k", 63)
		out[key] = strings.Repeat("v", 63)
		size -= len(key) + 69
	}
	return out
}

// fill creates as many Forecasts and WarmPools in a namespace.
func (s *scene) fill(t *testing.T, namespace string, many int, labels map[string]string) {
	t.Helper()
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]map[string]any{
		"Forecast": {
			"targetRef": map[string]any{
				"kind": "Deployment",
				"name": "x",
			},
			"signal":   map[string]any{"query": "sum(a)"},
			"quantile": "0.9",
			"history":  "1h",
			"step":     "1m",
			"leadTime": map[string]any{"mode": "Fixed", "duration": "5m"},
		},
		"WarmPool": {
			"members": []any{map[string]any{"forecast": "b0"}},
			"max":     1,
			"chunk": map[string]any{
				"gpuEquivalent": 1,
				"podTemplate": map[string]any{"spec": map[string]any{"containers": []any{
					map[string]any{"name": "c", "image": "i"},
				}}},
			},
		},
	}
	for kind, spec := range specs {
		url := fmt.Sprintf(
			"%s/apis/forewarm.dev/v1alpha1/namespaces/%s/%ss",
			strings.TrimRight(s.Config.Host, "/"),
			namespace,
			strings.ToLower(kind),
		)
		for i := range many {
			text, err := json.Marshal(map[string]any{
				"apiVersion": "forewarm.dev/v1alpha1", "kind": kind, "spec": spec,
				"metadata": map[string]any{"name": fmt.Sprintf("b%d", i), "labels": labels},
			})
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, func() string { return create(client, url, text) })
		}
	}
}

// create creates an object, and returns why it could not: a busy disk makes etcd time out.
func create(client *http.Client, url string, object []byte) string {
	answer, err := client.Post(url, "application/json", bytes.NewReader(object))
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close() //nolint:errcheck // Read only.
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode == http.StatusCreated || answer.StatusCode == http.StatusConflict {
		return ""
	}
	return fmt.Sprintf("%s: %.500s", answer.Status, said)
}

// told waits until the last objects have a status.
func (s *scene) told(t *testing.T, namespace string, many int) {
	t.Helper()
	eventually(t, func() string {
		name := fmt.Sprintf("b%d", many-1)
		forecast := s.MustKubectl(t, "", "get", "forecast", name, "-n", namespace, "-o", "jsonpath={.status.state}")
		pool := s.MustKubectl(t, "", "get", "warmpool", name, "-n", namespace, "-o", "jsonpath={.status.state}")
		if forecast == "" || pool == "" {
			return fmt.Sprintf("the states are %q and %q", forecast, pool)
		}
		return ""
	})
}

// peak is the most memory that a process has had, in bytes.
func (r *replica) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.command.Process.Pid))
	if err != nil {
		t.Skipf("the memory of a process is read on Linux alone: %v", err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatal("no VmHWM in its status")
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
