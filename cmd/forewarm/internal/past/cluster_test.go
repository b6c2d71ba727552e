package past_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/past"
)

const hpa = `{"metadata": {"name": %q, "namespace": "team"}, "spec": {"maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "x"},
  "metrics": [{"type": "External", "external": {"metric": {"name": %q, "selector": {"matchLabels": {%s}}},
    "target": {"type": "AverageValue", "averageValue": "5"}}}]}}`

const exposing = `{"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast", "metadata": {"name": %q, "namespace": "team", "creationTimestamp": %q},
  "spec": {"expose": {"metric": "queue_depth", "matchLabels": {"queue": "a"}}}}`

// cluster answers by the path below a namespace.
type cluster map[string]string

// RoundTrip implements http.RoundTripper.
func (c cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	_, path, _ := strings.Cut(r.URL.Path, "/namespaces/team")
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}}
	if answer.Body = io.NopCloser(strings.NewReader(c[path])); c[path] == "" {
		answer.StatusCode = http.StatusNotFound
	}
	return answer, nil
}

// HPAs that ask for a Forecast's name are found, and those that ask for its alias where no older Forecast has it.
func TestFromClusterFindsHPAs(t *testing.T) {
	older, newer := fmt.Sprintf(exposing, "older", "2026-01-01T00:00:00Z"), fmt.Sprintf(exposing, "newer", "2026-02-01T00:00:00Z")
	answers := cluster{
		"/forecasts/older": older, "/forecasts/newer": newer, "/forecasts": `{"kind": "List", "items": [` + newer + "," + older + "]}",
		"/horizontalpodautoscalers": `{"kind": "HorizontalPodAutoscalerList", "apiVersion": "autoscaling/v2", "items": [` + fmt.Sprintf(hpa, "alias", "queue_depth", `"queue": "a"`) + "," +
			fmt.Sprintf(hpa, "other", "queue_depth", `"queue": "b"`) + "," + fmt.Sprintf(hpa, "name", "newer", "") + "]}",
	}
	for name, want := range map[string]string{"older": "named [], exposed [alias]", "newer": "named [name], exposed []"} {
		f, err := past.FromCluster(t.Context(), &rest.Config{Host: "http://x", Transport: answers}, "team", name)
		if err != nil || f.State.UnreadReason != "" {
			t.Fatalf("%v, unread: %s", err, f.State.UnreadReason)
		}
		named, exposed := []string{}, []string{}
		for i := range f.State.Autoscalers {
			named = append(named, strings.TrimPrefix(f.State.Autoscalers[i].Autoscaler, "HorizontalPodAutoscaler/"))
		}
		for i := range f.State.Exposed {
			exposed = append(exposed, strings.TrimPrefix(f.State.Exposed[i].Autoscaler, "HorizontalPodAutoscaler/"))
		}
		if got := fmt.Sprintf("named %v, exposed %v", named, exposed); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
