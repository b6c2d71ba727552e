package cli_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/outlooks"
)

// HPAs that ask for a Forecast's name are found, and those that ask for its alias where no older Forecast has it.
func TestPastFindsHPAs(t *testing.T) {
	const exposing = `{apiVersion: forewarm.dev/v1alpha1, kind: Forecast,
  metadata: {name: %q, namespace: inference, creationTimestamp: "%d-01-01T00:00:00Z"},
  spec: {expose: {metric: queue_depth, matchLabels: {queue: a}}}}`
	const hpa = `{metadata: {name: %q, namespace: inference}, spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: x}, metrics: [
  {type: External, external: {metric: {name: %q, selector: {matchLabels: {%s}}}, target: {type: AverageValue, averageValue: "5"}}}]}}`
	const of = "/apis/forewarm.dev/v1alpha1/namespaces/inference/forecasts"
	older, newer := fmt.Sprintf(exposing, "older", 2025), fmt.Sprintf(exposing, "newer", 2026)
	server := httptest.NewServer(cluster{
		of + "/older": older, of + "/newer": newer, of: "{kind: List, items: [" + newer + "," + older + "]}",
		ofHPAs: "{kind: HorizontalPodAutoscalerList, apiVersion: autoscaling/v2, items: [" +
			fmt.Sprintf(hpa, "alias", "queue_depth", "queue: a") + "," + fmt.Sprintf(hpa, "name", "newer", "") + "," +
			fmt.Sprintf(hpa, "other", "queue_depth", "queue: b") + "]}",
	})
	defer server.Close()
	for name, want := range map[string]string{"older": "exposed:HorizontalPodAutoscaler/alias", "newer": "HorizontalPodAutoscaler/name"} {
		f, err := outlooks.PastFromCluster(t.Context(), &rest.Config{Host: server.URL}, "inference", name)
		if err != nil || f.State.UnreadReason != "" {
			t.Fatalf("%v, unread: %s", err, f.State.UnreadReason)
		}
		var got []string
		for i := range f.State.Autoscalers {
			got = append(got, f.State.Autoscalers[i].Autoscaler)
		}
		for i := range f.State.Exposed {
			got = append(got, "exposed:"+f.State.Exposed[i].Autoscaler)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %s, want %s", name, got, want)
		}
	}
}
