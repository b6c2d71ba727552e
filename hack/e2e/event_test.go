package e2e_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestEvent: a launch triples the demand of two workloads. Of one it is announced, and its replicas are ready when it begins.
func TestEvent(t *testing.T) {
	t.Parallel()
	const usual, height, length = 30, 90, 40 * time.Second
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: 5 * time.Second})
	past := make([]float64, 1800)
	for i := range past {
		past[i] = usual + math.Sin(float64(i))
	}
	names := []string{"announced", "unknown"}
	var begins time.Time
	for _, name := range names {
		s.writePast(t, workloadKey{"launch", name}, time.Second, past)
		s.demand.follow("launch", name, func() float64 {
			if at := time.Now(); !begins.IsZero() && at.After(begins) && at.Before(begins.Add(length)) {
				return height
			}
			return usual
		})
	}
	s.observe(t)
	s.MustKubectl(t, "apply", "--server-side", "-k", "deploy/demand-events")
	s.forewarm(t, "deploy/default", 1, "--demand-events")
	all := []string{namespace("launch")}
	for _, name := range names {
		all = append(
			all,
			workload("launch", name, "5s", 4),
			hpa("launch", name, name, external(name, "")),
			forecastOf("launch", name),
		)
	}
	s.MustApply(t, strings.Join(all, "\n---\n"))
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	ready := func(name string) int {
		d, err := client.AppsV1().Deployments("launch").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return int(d.Status.ReadyReplicas)
	}
	for _, name := range names {
		s.active(t, "launch", name, found)
		clustertest.MustEventually(t, func() string {
			if n := ready(name); n < 3 || n > 5 {
				return fmt.Sprintf("%s: %d replicas are ready for a demand of %d", name, n, usual)
			}
			return ""
		})
	}
	begins = time.Now().Add(40 * time.Second).Truncate(time.Second)
	s.MustApply(t, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: DemandEvent
metadata: {name: launch, namespace: launch}
spec: {forecasts: [announced], start: %q, duration: %.0fs, times: "3"}
`, begins.UTC().Format("2006-01-02T15:04:05"), length.Seconds()))
	time.Sleep(time.Until(begins))
	first, second := ready("announced"), ready("unknown")
	t.Logf("%d and %d replicas are ready when the launch begins; %s", first, second,
		s.get(t, "outlook/announced", "-n", "launch", "-o", "jsonpath={.status.reason} {.status.events}"))
	if table := s.get(t, "demandevents", "-n", "launch"); !strings.Contains(table, "Applied") {
		t.Errorf("the table:\n%s", table)
	}
	if first < height/10 || second > 5 {
		t.Errorf(
			"%d replicas are ready when the launch begins, %d without the event; want %d and %d",
			first,
			second,
			height/10,
			usual/10,
		)
	}
	time.Sleep(time.Until(begins.Add(length)))
	for _, name := range names {
		clustertest.MustEventually(t, func() string {
			if n := ready(name); n > 6 {
				return fmt.Sprintf("%s: %d replicas are ready after the launch", name, n)
			}
			return ""
		})
	}
}
