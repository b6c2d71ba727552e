package e2e_test

import (
	"encoding/json"
	"os/exec"
	"testing"
	"time"
)

// pauses: an HPA of 10 a replica takes 4 replicas for 35. A pause gives it those of an HPA of 7 on the observed demand, which are 5, and
// never fewer; a resume those of the forecast again.
func pauses(t *testing.T, s *stage) {
	t.Helper()
	s.demand.set("pauses", "llama", 35)
	s.MustApply(t, namespace("pauses"), workload("pauses", "llama", "1s", 1),
		forecastOf("pauses", "llama", "scaling: {before: {target: 7}}"),
		hpa("pauses", "llama", "llama", external("llama", "")))
	s.active(t, "pauses", "llama", found)
	s.scaled(t, "pauses", "llama", 4)
	change := func(verb string, args ...string) {
		t.Helper()
		args = append([]string{verb, "llama", "-n", "pauses", "--json", "--kubeconfig=" + s.Kubeconfig}, args...)
		out, err := exec.CommandContext(t.Context(), s.Components.Forewarm, args...).Output()
		var got struct {
			Forecasts []struct{ Result string }
		}
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil || len(got.Forecasts) != 1 || got.Forecasts[0].Result != "done" {
			t.Fatalf("%v: %v, %s", args, err, out)
		}
	}
	desired := func(t *testing.T) string {
		t.Helper()
		return s.get(t, "hpa", "llama", "-n", "pauses", "-o", "jsonpath={.status.desiredReplicas}")
	}
	change("pause", "--dry-run")
	if v := s.value(t, "pauses", "llama", ""); v >= 50_000 {
		t.Fatalf("%dm is served after --dry-run", v)
	}
	become := func(verb, want string) {
		t.Helper()
		change(verb)
		began := time.Now()
		expect(t, "replicas desired after "+verb, desired, want)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s took %s, want at most the period of an HPA, 15 s", verb, took)
		}
	}
	become("pause", "5")
	for _, selector := range []string{"", "quantile=0.05", "serve=shadow"} {
		if v := s.value(t, "pauses", "llama", selector); v != 50_000 {
			t.Errorf("%q: %dm is served, want 35 × 10 ÷ 7 = 50", selector, v)
		}
	}
	for range 10 { // Some periods of this control plane's HPA.
		if got := desired(t); got < "5" {
			t.Errorf("%s replicas desired while paused, want 5", got)
		}
		time.Sleep(500 * time.Millisecond)
	}
	become("resume", "4")
}
