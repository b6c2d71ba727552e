package adopt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/adopt"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/signal"
)

const scaledByPods = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 9
  metrics: [{type: Pods, pods: {metric: {name: vllm_num_requests_running}, target: {type: AverageValue, averageValue: 8}}}]
`

// The history decides: one server's series give a Forecast, any other answer a reason.
func TestPropose(t *testing.T) {
	t.Parallel()
	refused := errors.New("403 Forbidden")
	for name, c := range map[string]struct {
		servers string // whose series the history has
		other   error  // for the others
		leftOut string
		err     error
	}{
		"one server":    {"vllm:", series.ErrNoSeries, "", nil},
		"no server":     {"", series.ErrNoSeries, "no known model server reported its pods", nil},
		"all servers":   {"}", series.ErrNoSeries, " both have series", nil},
		"refused":       {"", refused, "403 Forbidden", nil},
		"not available": {"", series.ErrUnavailable, "", series.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := &adopt.Objects{}
			found.AddManifest("llama.yaml", []byte(scaledByPods), "team", adopt.WorkloadKinds())
			all := adopt.Workloads(found)
			if len(all) != 1 || len(found.Unread) > 0 {
				t.Fatalf("%d workloads, not read: %q", len(all), found.Unread)
			}
			err := adopt.Propose(t.Context(), adopt.Config{
				Trust: signal.DefaultTrust(), Lead: time.Minute,
				History: func(_ context.Context, query string, _, _ time.Duration) (forecast.Series, error) {
					own := strings.Contains(query, c.servers) && !strings.Contains(query, "nv_inference")
					if c.servers == "" || c.servers != "}" && !own {
						return forecast.Series{}, fmt.Errorf("read %s: %w", query, c.other)
					}
					return forecast.Series{}, nil
				},
			}, all[0])
			w := all[0]
			if !errors.Is(err, c.err) || !strings.Contains(w.LeftOut, c.leftOut) {
				t.Fatalf("error %v, left out %q, want %v and %q", err, w.LeftOut, c.err, c.leftOut)
			}
			written := strings.Contains(w.Manifest, "preset: vllm/inflight") && w.HasScaling()
			if want := c.leftOut == "" && c.err == nil; written != want {
				t.Errorf("a Forecast is written: %v, want %v:\n%s", written, want, w.Manifest)
			}
		})
	}
}
