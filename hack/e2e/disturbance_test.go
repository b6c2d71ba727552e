package e2e_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestDisturbance tests the whole path from the scrape to ready pods, and then stops the history source, the leader
// and both replicas, one after the other. The HPA keeps its replicas: it never scales on a wrong value and never
// loses capacity. An HPA with a second metric that does not need Forewarm scales up meanwhile.
func TestDisturbance(t *testing.T) {
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	// The demand is constant in the past, too: what its rise would teach depends on how fast the machine is.
	past := map[string][]float64{`inflight{namespace="calm",app="llama"}`: slices.Repeat([]float64{45}, 600)}
	ramp := away{s, "away", "%s"}
	ramp.begin(past)
	s.writeSeries(t, time.Second, past)
	s.demand.set("calm", "llama", 45)
	s.observe(t)
	s.servePodMetrics(t)
	s.forewarm(t, "deploy/default", 2)
	s.MustApply(t, namespace("calm"), workload("calm", "llama", "1s", 1),
		// Data is stale after 15 s instead of ten minutes, so that the outage can be short.
		forecastOf("calm", "llama", "staleAfter: 15s"), hpa("calm", "llama", "llama", external("llama", "")))
	s.scaled(t, "calm", "llama", 5)
	ramp.prepare(t, hpa("away", secured, secured, external(secured, ""), pods), hpa("away", reactive, reactive, pods),
		hpa("away", unsecured, unsecured, external(unsecured, "")))

	// From here on every change of the scale is an error.
	defer s.guard(t, "deployment", "llama", "-n", "calm", "-o", "jsonpath={.spec.replicas}")()
	s.replicasAgree(t)
	s.sourceAway(t)
	s.leaderKilled(t)
	s.allKilled(t, func() { ramp.endure(t) })
	s.active(t, "away", secured, found)
}

// guard fails the test if what kubectl gets changes, until the returned function is called.
func (s *stage) guard(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	want := s.get(t, args...)
	return repeat(t, 500*time.Millisecond, func() error {
		got, err := s.Kubectl(t.Context(), "", append([]string{"get"}, args...)...)
		if got = strings.TrimSpace(got); err == nil && got != want {
			return fmt.Errorf("the HPA scaled %s to %s", want, got)
		}
		return nil
	})
}

// sourceAway: the Forecast falls back, then nothing is served. The HPA shows that and keeps its replicas. Then
// everything recovers.
func (s *stage) sourceAway(t *testing.T) {
	t.Helper()
	before := s.state(t, "calm", "llama")
	s.prometheus.Kill()
	s.active(t, "calm", "llama", missing)
	state := func(t *testing.T) string { t.Helper(); return s.state(t, "calm", "llama") }
	expect(t, "state", state, "Stale")
	if message := s.condition(t, "calm", "llama", "message"); !strings.Contains(message, "Stale") {
		t.Errorf("the HPA's message has no reason: %s", message)
	}
	time.Sleep(20 * time.Second) // Longer than any cache.
	if err := s.prometheus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.active(t, "calm", "llama", found)
	expect(t, "state", state, before)
}

// leaderKilled: the other replica continues to serve and writes the statuses.
func (s *stage) leaderKilled(t *testing.T) {
	t.Helper()
	s.killLeader(t)
	s.replicasAgree(t)
}

// killLeader kills the replica that holds the lease, and starts it again when the other has it.
func (s *stage) killLeader(t *testing.T) {
	t.Helper()
	holder := func() string {
		return s.get(t, "lease", "forewarm", "-n", "forewarm-system", "-o", "jsonpath={.spec.holderIdentity}")
	}
	before := holder()
	leader := s.replicas[0]
	if !strings.HasSuffix(before, fmt.Sprintf("_%d", leader.PID())) {
		leader = s.replicas[1]
	}
	leader.Kill()
	clustertest.MustEventually(t, func() string {
		if now := holder(); now == before || now == "" {
			return "the lease is held by " + now
		}
		return ""
	})
	if err := leader.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// allKilled: nothing answers and the HPA keeps its replicas. The replicas restart and restore their state. meanwhile is called
// before they do.
func (s *stage) allKilled(t *testing.T, meanwhile func()) {
	t.Helper()
	for _, r := range s.replicas {
		r.Kill()
	}
	s.active(t, "calm", "llama", missing)
	meanwhile()
	for _, r := range s.replicas {
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.active(t, "calm", "llama", found)
	s.replicasAgree(t)
}

// replicasAgree compares the answers of both replicas to the last digit.
func (s *stage) replicasAgree(t *testing.T) {
	t.Helper()
	path := metric("calm", "llama", "quantile=0.987")
	clustertest.MustEventually(t, func() string {
		one, errOne := s.ask(s.replicas[0].URL + path)
		other, errOther := s.ask(s.replicas[1].URL + path)
		if err := errors.Join(errOne, errOther); err != nil {
			return err.Error()
		}
		if one != other || milliOf(strings.ReplaceAll(one, " ", "")) <= 0 {
			return fmt.Sprintf("the replicas return %s and %s", one, other)
		}
		return ""
	})
}
