package cli_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

const fleetObjects = `
apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100}
spec:
  gpus: {count: 40}
  members: [{forecast: chat}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  maxReplicas: 30
  metrics:
    - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 100}}}
`

// With --prometheus, the history of a member is a query. The fleet and the autoscalers may be in one file.
func TestFleetFromPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop over workloads")
	}
	server := httptest.NewServer(&recordedtest.Prometheus{Demand: func(at time.Time) float64 {
		if hour := at.UTC().Hour(); hour >= 8 && hour < 18 {
			return 1500
		}
		return 300
	}})
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(file, []byte(fleetObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, messages bytes.Buffer
	cmd := simulate.New()
	cmd.SetOut(&out)
	cmd.SetErr(&messages)
	cmd.SetArgs([]string{
		"--fleet", file, "--hpa", file, "--prometheus", server.URL, "--history", "chat=sum(rate(requests_total[1m]))",
		"--range", "5d", "--end", "2026-02-01T00:00:00Z", "-q",
	})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, messages.String()))
	}
	if !strings.Contains(out.String(), "In 2 days on 40 GPUs, batch work would have done ") {
		t.Error(out.String())
	}
}
