package demo //nolint:testpackage // What the demo plays is nobody else's.

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
)

var noon = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

func steady(t *testing.T, value float64) *Playback {
	t.Helper()
	values := make([]float64, 1000)
	for i := range values {
		values[i] = value
	}
	values[950] = math.NaN()
	p, err := NewPlayback(forecast.Series{Start: time.Unix(0, 0), Step: time.Minute, Values: values}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scrape is what the page of the metrics says at a time.
func scrape(t *testing.T, metrics []metric, now time.Time) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	page, err := newTarget(ctx, metrics, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- page.serve(ctx) }()
	defer func() {
		cancel()
		if ended := <-done; ended != nil {
			t.Errorf("serving ended with: %v", ended)
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page.address()+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, error %v", response.StatusCode, err)
	}
	http.DefaultClient.CloseIdleConnections()
	return string(body)
}

func TestThePageSaysWhatTheTracePlays(t *testing.T) {
	// 900 minutes of 600 requests lie behind noon.
	page := scrape(t, []metric{requestsMetric(steady(t, 600))}, noon)
	want := `# HELP http_requests_total Requests that the demo's service has answered.
# TYPE http_requests_total counter
http_requests_total{code="200",namespace="demo",pod="api-6f7c9d5b48-2xk7q"} 270000
http_requests_total{code="200",namespace="demo",pod="api-6f7c9d5b48-5mzpw"} 162000
http_requests_total{code="200",namespace="demo",pod="api-6f7c9d5b48-8c4vn"} 108000
`
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestInAGapTheSeriesAreGone(t *testing.T) {
	gap := noon.Add(50 * time.Minute)
	metrics := append(gpuBusyMetrics(steady(t, 3)), traceMetric(steady(t, 3)), requestsMetric(steady(t, 3)))
	before, inside := scrape(t, metrics, gap.Add(-time.Second)), scrape(t, metrics, gap.Add(time.Second))
	for _, name := range []string{"DCGM_FI_PROF_GR_ENGINE_ACTIVE{", "forewarm_trace_value{", "http_requests_total{"} {
		if !strings.Contains(before, name) || strings.Contains(inside, name) {
			t.Errorf("%s: there before the gap %v, within it %v, want only before",
				name, strings.Contains(before, name), strings.Contains(inside, name))
		}
	}
	if !strings.Contains(inside, "kube_pod_owner{") {
		t.Error("the pods' owners are gone with the GPU's samples")
	}
}

func TestSharesOfGPUsSumToTheTrace(t *testing.T) {
	for _, total := range []float64{0, 0.4, 3, 5.9, 6} {
		sum := 0.0
		for i := range gpus {
			share := shareOf(i, total/gpus)
			if share < 0 || share > 1 {
				t.Errorf("GPU %d of a total of %v is busy to %v", i, total, share)
			}
			sum += share
		}
		if math.Abs(sum-total) > 1e-9 {
			t.Errorf("the GPUs sum to %v, want %v", sum, total)
		}
	}
	if got := shareOf(0, 0.5); math.Abs(got-0.4) > 1e-12 {
		t.Errorf("the first of six at a half is %v, want 0.4", got)
	}
}
