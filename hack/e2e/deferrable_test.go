package e2e_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestDeferrable: the same burst of batch work comes to two workloads. Of one it is part of the demand, and asks for its replicas at once;
// of the other it may wait, and is done by few more within its deadline.
func TestDeferrable(t *testing.T) {
	t.Parallel()
	const usual, burst, length, deadline = 30, 60, 20 * time.Second, 3 * time.Minute
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: 5 * time.Second})
	past, none := make([]float64, 1800), make([]float64, 1800)
	for i := range past {
		past[i] = usual + math.Sin(float64(i))
	}
	var begins time.Time
	for _, name := range []string{"patient", "urgent"} {
		s.writePast(t, workloadKey{"batches", name}, time.Second, past)
		s.demand.set("batches", name, usual)
	}
	s.writePast(t, workloadKey{"batches", "batch"}, time.Second, none)
	s.demand.follow("batches", "batch", func() float64 {
		if at := time.Now(); !begins.IsZero() && at.After(begins) && at.Before(begins.Add(length)) {
			return burst
		}
		return 0
	})
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	all := []string{
		namespace("batches"),
		forecastOf("batches", "patient", "quantile: ", fmt.Sprintf(
			`deferrable: {signal: {query: 'sum(inflight{app="batch"})'}, deadline: %.0fs}`, deadline.Seconds())),
		forecastOf("batches", "urgent", "quantile: ", `signal: {query: 'sum(inflight{app=~"urgent|batch"})'}`),
	}
	for _, name := range []string{"patient", "urgent"} {
		all = append(all, workload("batches", name, "5s", 4), hpa("batches", name, name, external(name, "")))
	}
	s.MustApply(t, strings.Join(all, "\n---\n"))
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(name string) int32 {
		d, problem := client.AppsV1().Deployments("batches").Get(t.Context(), name, metav1.GetOptions{})
		if problem != nil {
			t.Fatal(problem)
		}
		return *d.Spec.Replicas
	}
	for _, name := range []string{"patient", "urgent"} {
		s.active(t, "batches", name, found)
	}
	time.Sleep(10 * time.Second) // Each has the replicas of its headroom.
	before := asked("patient")
	begins = time.Now()
	most := map[string]int32{}
	waiting, waited := 0.0, 0.0
	for time.Since(begins) < deadline+length+10*time.Second {
		for _, name := range []string{"patient", "urgent"} {
			most[name] = max(most[name], asked(name))
		}
		text := s.get(t, "outlook/patient", "-n", "batches", "-o", "jsonpath={.status.objective.deferrable.waiting}")
		if waiting, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatal(err)
		}
		waited = max(waited, waiting*3600)
		time.Sleep(time.Second)
	}
	t.Logf(
		"%d replicas before; for work that may wait %d at most, for as much demand %d; up to %.0f replica-seconds waited",
		before,
		most["patient"],
		most["urgent"],
		waited,
	)
	if most["urgent"] < before+3 || most["patient"] > before+2 || most["patient"] < before {
		t.Errorf(
			"%d replicas for work that may wait, %d for as much demand, of %d",
			most["patient"],
			most["urgent"],
			before,
		)
	}
	if waited < burst*length.Seconds()/10/2 || waiting > 0 {
		t.Errorf("%.0f replica-seconds waited, and %.0f wait after the deadline", waited, waiting*3600)
	}
}
