package e2e_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// recordedMoment is a line of a recording: the metric at a time, the wanted replicas, and the ready ones.
type recordedMoment struct {
	Seconds  float64 `json:"seconds"`
	Milli    int64   `json:"milli"`
	Replicas int32   `json:"replicas"`
	Ready    int32   `json:"ready"`
}

// TestRecord records nine minutes of a workload under the real HPA controller, with its real sync period of 15 s. A
// test compares the simulator with the recording (pkg/offline/simulate/testdata). It runs only where FOREWARM_RECORD
// names the file:
//
//	FOREWARM_E2E=1 FOREWARM_RECORD=$PWD/../../pkg/offline/simulate/testdata/controlplane.jsonl go test -run TestRecord .
//
// The observed demand is served, so that the HPA reads the course unchanged: a rise above what one sync may add, a
// dip shorter than the stabilization, a fall, a spike that ends before its pods are ready, and the end.
func TestRecord(t *testing.T) {
	file := os.Getenv("FOREWARM_RECORD")
	if file == "" {
		t.Skip("FOREWARM_RECORD is unset: it names the file to write")
	}
	s := setUp(t, clustertest.Options{Stabilization: time.Minute})
	s.demand.set("course", "model", 25)
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	s.MustApply(t, namespace("course"), workload("course", "model", "40s", 3),
		forecastOf("course", "model"), hpa("course", "model", "model", external("model", "serve: shadow")))
	s.scaled(t, "course", "model", 3)
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := json.NewEncoder(&out)
	for begun := time.Now(); time.Since(begun) < 9*time.Minute; time.Sleep(500 * time.Millisecond) {
		s.demand.set("course", "model", course(time.Since(begun)))
		d, err := client.AppsV1().Deployments("course").Get(t.Context(), "model", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		seconds := time.Since(begun).Round(time.Millisecond).Seconds()
		m := recordedMoment{
			Seconds: seconds, Milli: s.value(t, "course", "model", "serve=shadow"),
			Replicas: *d.Spec.Replicas, Ready: d.Status.ReadyReplicas,
		}
		if err := lines.Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// course returns the demand of the recording; a replica sustains 10.
func course(elapsed time.Duration) float64 {
	for _, part := range []struct {
		until  time.Duration
		demand float64
	}{
		{40 * time.Second, 25},
		{130 * time.Second, 152},
		{170 * time.Second, 61},
		{230 * time.Second, 118},
		{330 * time.Second, 34},
		{355 * time.Second, 97},
		{450 * time.Second, 52},
	} {
		if elapsed < part.until {
			return part.demand
		}
	}
	return 8
}
