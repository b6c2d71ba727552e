package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestFastStart: one workload whose replicas start in 12 s where a new server is made, and in 3 s where one sleeps. While the pool of sleeping
// servers is ready, the next replica is one that wakes, and the value looks ahead by that; without the pool it looks ahead by the other.
func TestFastStart(t *testing.T) {
	t.Parallel()
	// kwok acknowledges a pod when it is ready, and one that is acknowledged half a minute late is no start: a busy machine takes its part.
	const slow, fast = "12s", "2s"
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: 5 * time.Second})
	past := make([]float64, 1800)
	for i := range past {
		past[i] = 50
	}
	s.writePast(t, workloadKey{"sleepy", "llama"}, time.Second, past)
	s.demand.set("sleepy", "llama", 50)
	s.observe(t)
	s.forewarm(t, "deploy/default", 1, "--season=5m", "--warm-pool-step=1s")
	if _, err := s.Kubectl(t.Context(), "", "apply", "--server-side", "-k", "deploy/warm-pools"); err != nil {
		t.Fatal(err)
	}
	pool := `
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: asleep, namespace: sleepy}
spec:
  members: [{forecast: llama}]
  chunk: {podTemplate: {spec: {containers: [{name: chunk, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
  leadTime: {mode: Fixed, duration: 12s}
  mode: Enforce
  min: 2
  max: 6
  actuator: {scale: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: asleep}}}
`
	forecast := forecastOf(
		"sleepy",
		"llama",
		"quantile: ",
		"scaling: {target: 10}",
		"seasons: [5m]",
		"leadTime: {mode: Auto, fallback: 5s}",
	)
	s.MustApply(
		t,
		namespace("sleepy"),
		forecast,
		workload("sleepy", "llama", slow, 1),
		workload("sleepy", "asleep", "1s", 0),
	)
	s.MustKubectl(
		t,
		strings.Fields(
			"create role scale-asleep -n sleepy --verb=patch --resource=deployments.apps/scale --resource-name=asleep",
		)...)
	s.MustKubectl(t, strings.Fields(
		"create rolebinding scale-asleep -n sleepy --role=scale-asleep --serviceaccount=forewarm-system:forewarm")...)
	leads := func(least, most time.Duration, source string) {
		t.Helper()
		clustertest.MustEventually(t, func() string {
			got, err := s.Kubectl(t.Context(), "", "get", "outlook/llama", "-n", "sleepy", "-o",
				"jsonpath={.status.leadTime.duration} {.status.window} {.status.leadTime.source}")
			if err != nil {
				return err.Error()
			}
			lead, rest, _ := strings.Cut(got, " ")
			window, words, _ := strings.Cut(rest, " ")
			is, errLead := time.ParseDuration(lead)
			ahead, errWindow := time.ParseDuration(window)
			if errLead != nil || errWindow != nil || is < least || is > most || ahead < least+75*time.Second ||
				ahead > most+75*time.Second ||
				!strings.Contains(words, source) {
				return fmt.Sprintf("%s, want %s to %s and the window with it, %s", got, least, most, source)
			}
			return ""
		})
		t.Logf("after %s: %s", time.Since(s.begin).Round(time.Second),
			s.get(t, "outlook/llama", "-n", "sleepy", "-o", "jsonpath={.status.leadTime.source}"))
	}
	leads(5*time.Second, 5*time.Second, "of 10 starts measured") // The pods are watched.
	s.MustKubectl(t, "scale", "deployment", "llama", "-n", "sleepy", "--replicas=12")
	leads(12*time.Second, 40*time.Second, "starts, all on existing nodes")

	s.MustApply(t, pool)
	ready := []string{
		"warmpool",
		"asleep",
		"-n",
		"sleepy",
		"-o",
		`jsonpath={.status.conditions[?(@.type=="Ready")].reason}`,
	}
	expect(t, "the pool's servers", func(t *testing.T) string {
		t.Helper()
		return s.get(t, ready...)
	}, "Ready")
	leads(12*time.Second, 40*time.Second,
		"warm pool asleep is ready for this Forecast, but does not shorten the lead time")
	s.MustKubectl(t, "patch", "deployment", "llama", "-n", "sleepy", "-p",
		`{"spec": {"template": {"metadata": {"annotations": {"start.e2e/delay": "`+fast+`"}}}}}`)
	leads(2*time.Second, 11*time.Second, "that warm pool asleep provides")

	s.MustKubectl(t, "delete", "warmpool", "asleep", "-n", "sleepy")
	leads(12*time.Second, 40*time.Second, "more on nodes that a warm pool held")
}
