package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestInstall installs the chart with the real helm, as the quickstart does. The replicas run with what the chart rendered: its
// arguments, environment and mounts. The doctor finds nothing wrong, an upgrade changes who signs the certificates, and nothing
// is left after the uninstallation.
func TestInstall(t *testing.T) {
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second})
	s.writePast(t, workloadKey{"team", "llama"}, time.Second, waves(time.Now().Add(-10*time.Minute), 600))
	s.observe(t)
	s.demand.follow("team", "llama", func() float64 { return waves(time.Now(), 1)[0] })
	s.MustApply(t, namespace("team"), workload("team", "llama", "1s", 1),
		hpa("team", "llama", "llama", external("llama", "")))

	began := time.Now()
	if err := s.InstallChart(
		t.Context(), "--set", "image.repository=forewarm", "--set", "prometheus.url="+s.prometheus.URL,
	); err != nil {
		t.Fatal(err)
	}
	s.deploy(t, "first")
	s.MustApply(t, forecastOf("team", "llama"))
	s.value(t, "team", "llama", "")
	t.Logf("from helm install to the first value: %.1f s", time.Since(began).Seconds())
	s.active(t, "team", "llama", found)
	s.wellByTheDoctor(t)

	authority, err := s.Certificate(t.Context(), "serving")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Helm(
		t.Context(), "upgrade", "forewarm", "deploy/charts/forewarm", "--namespace", "forewarm-system",
		"--reset-then-reuse-values", "--set", "tls.mode=existingSecret", "--set", "tls.existingSecret=serving",
	); err != nil {
		t.Fatal(err)
	}
	s.deploy(t, "second")
	for _, name := range apiServiceNames {
		read := func(t *testing.T) string {
			t.Helper()
			return s.get(t, "apiservice", name, "-o", "jsonpath={.spec.caBundle}")
		}
		expect(t, name+"'s caBundle", read, base64.StdEncoding.EncodeToString(authority))
	}
	s.active(t, "team", "llama", found)
	s.wellByTheDoctor(t)

	if _, err := s.Helm(t.Context(), "uninstall", "forewarm", "--namespace", "forewarm-system"); err != nil {
		t.Fatal(err)
	}
	s.gone(t)
	kept := s.get(t, "forecasts", "-n", "team", "-o", "name")
	if kept != "forecast.forewarm.dev/llama" {
		t.Errorf("of the Forecasts %q are kept", kept)
	}
}

// deploy replaces the replicas by two that run as the Deployment says.
func (s *stage) deploy(t *testing.T, name string) {
	t.Helper()
	before := s.replicas
	s.replicas = nil
	for i := range 2 {
		r, err := s.StartDeployed(t.Context(), fmt.Sprintf("%s-%d", name, i))
		if err != nil {
			t.Fatal(err)
		}
		s.replicas = append(s.replicas, r)
	}
	for _, r := range before {
		if err := s.Retire(r); err != nil {
			t.Error(err)
		}
	}
	if err := s.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wellByTheDoctor: forewarm doctor --wait ends without errors and warnings.
func (s *stage) wellByTheDoctor(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.CheckTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, s.Components.Forewarm, "doctor", "--kubeconfig="+s.Kubeconfig, "--wait=2m",
		"--json", "--prometheus="+s.prometheus.URL)
	out, err := command.Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		t.Errorf("forewarm doctor: %v: %s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Findings []struct {
			Check, Level, Object, Message string
		} `json:"findings"`
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Findings) == 0 {
		t.Fatalf("forewarm doctor --json (%v): %s", err, out)
	}
	for _, f := range report.Findings {
		switch strings.ToLower(f.Level) {
		case "ok", "skipped":
		case "warning":
			t.Logf("the doctor warns: %+v", f)
		default:
			t.Errorf("the doctor finds %+v", f)
		}
	}
}
