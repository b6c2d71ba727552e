package serve //nolint:testpackage // The server without the command line, on a port of its own.

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/hack/reference"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

//go:embed testdata/objects.yaml
var objects string

// options write everything that a standalone server reads, and scrape a page whose load is 40 + 2.
func options(t *testing.T) Options {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(
			w,
			"load{namespace=\"team\",pod=\"a\"} 40\nload{namespace=\"team\",pod=\"b\"} 2\nload{namespace=\"other\"} 9\n",
		)
	}))
	t.Cleanup(page.Close)
	dir := t.TempDir()
	scrape := fmt.Sprintf("scrape_configs: [{job_name: web, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]",
		strings.TrimPrefix(page.URL, "http://"))
	for name, text := range map[string]string{"scrape.yaml": scrape, "objects/forecasts.yaml": objects} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Defaults()
	o.Standalone, o.Local.Port = true, 0
	o.ConfigDir = filepath.Join(dir, "objects")
	o.ScrapeConfig = filepath.Join(dir, "scrape.yaml")
	o.DataDir = filepath.Join(dir, "data")
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o
}

// serve runs the server until the returned function is called, and returns its address.
func serve(t *testing.T, o Options) (address string, stop func()) {
	t.Helper()
	log, stop := begin(t, o)
	return logged(t, log, `msg=serving address=(http://\S+)`), stop
}

// logged waits for a line in the log, and is what its pattern captures.
func logged(t *testing.T, log *processtest.LogBuffer, pattern string) (captured string) {
	t.Helper()
	line := regexp.MustCompile(pattern)
	eventually(t, func() string {
		if found := line.FindStringSubmatch(log.String()); found != nil {
			captured = found[1]
			return ""
		}
		return "no address in the log:\n" + log.String()
	})
	return captured
}

// begin runs the server until the returned function is called.
func begin(t *testing.T, o Options) (log *processtest.LogBuffer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log = &processtest.LogBuffer{}
	done := make(chan error, 1)
	go func() { done <- runServer(ctx, o, slog.New(slog.NewTextHandler(log, nil))) }()
	return log, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with: %v\n%s", err, log)
		}
	}
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		text := wrong()
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestStandaloneFromScrapeToMetric(t *testing.T) {
	o := options(t)
	address, stop := serve(t, o)
	const external = "/apis/external.metrics.k8s.io/v1beta1/namespaces/team/"
	eventually(t, func() string {
		code, body := get(t, address+external+"load")
		if code == http.StatusOK && strings.Contains(body, `"42"`) {
			return ""
		}
		return fmt.Sprintf("the metric answers %d, want 42: %s", code, body)
	})
	if code, body := get(t, address+"/readyz"); code != http.StatusOK || !strings.Contains(body, "[+]forecasts ok") {
		t.Errorf("readyz answers %d: %s", code, body)
	}
	if code, body := get(t, address+external+"broken"); code == http.StatusOK ||
		!strings.Contains(body, "dcgm/gpu-busy") {
		t.Errorf("a Forecast with an unknown preset answers %d without the one that is meant: %s", code, body)
	}
	stop()

	// The history of before the restart is there, and served again.
	address, stop = serve(t, o)
	defer stop()
	eventually(t, func() string {
		code, body := get(t, address+external+"load")
		if code == http.StatusOK {
			return ""
		}
		return fmt.Sprintf("after a restart the metric answers %d: %s", code, body)
	})
}

// KEDA's scaler serves next to the others: it pushes the same value's activity as soon as there is one, its requests are
// counted on /metrics, and its stream ends with the server.
func TestKEDAIsServedBeside(t *testing.T) {
	o := options(t)
	o.KEDA.Address = "127.0.0.1:0"
	log, stop := begin(t, o)
	address := logged(t, log, `msg=serving address=(http://\S+)`)
	conn, err := grpc.NewClient(logged(t, log, `msg="serving KEDA" address=(\S+)`),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // The server ends it.
	client := pb.NewExternalScalerClient(conn)
	ref := &pb.ScaledObjectRef{
		Name: "web", Namespace: "team",
		ScalerMetadata: map[string]string{"forecast": "load", "target": "10", "activation": "41"},
	}
	var stream grpc.ServerStreamingClient[pb.IsActiveResponse]
	eventually(t, func() string { // The Forecasts may not have been read when the first is opened.
		if stream, err = client.StreamIsActive(t.Context(), ref); err != nil {
			return err.Error()
		}
		first, broken := stream.Recv()
		if broken != nil || !first.GetResult() {
			return fmt.Sprintf("the first state is %v (%v)", first.GetResult(), broken)
		}
		return ""
	})
	got, err := client.GetMetrics(t.Context(), &pb.GetMetricsRequest{ScaledObjectRef: ref, MetricName: "load"})
	if err != nil || got.GetMetricValues()[0].GetMetricValueFloat() != 42 {
		t.Errorf("the metric is %v (%v), want 42", got, err)
	}
	const counted = `forewarm_keda_grpc_server_handled_total{grpc_code="OK",grpc_method="GetMetrics"`
	_, body := get(t, address+"/metrics")
	if !strings.Contains(body, counted) {
		t.Error("the request is not counted on /metrics")
	}
	page, err := os.ReadFile("../../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if unlisted := reference.Unlisted(string(page), body); len(unlisted) > 0 {
		t.Errorf("served, and not in docs/reference/metrics.md: %q", unlisted)
	}
	stop()
	for err == nil {
		_, err = stream.Recv()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v, want its end", err)
	}
}

func TestWhatCannotBeOpenedEndsTheServer(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*Options)
	}{
		{"a scrape file that is not there", "none.yaml", func(o *Options) { o.ScrapeConfig = "none.yaml" }},
		{"a folder that is not there", "none", func(o *Options) { o.ConfigDir = "none" }},
		{"data in a file", "not a directory", func(o *Options) { o.DataDir = filepath.Join(o.ScrapeConfig, "file") }},
		{"an address of KEDA's that is not here", "--keda-address", func(o *Options) {
			o.KEDA.Address, o.KEDA.Plaintext = "192.0.2.1:9090", true
		}},
		{"no cluster", "--kubeconfig", func(o *Options) { o.Standalone, o.ConfigDir = false, "" }},
	} {
		o := options(t)
		c.change(&o)
		err := runServer(t.Context(), o, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
