package demo //nolint:testpackage // What the demo plays is internal.

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/forewarm/forewarm/hack/processtest"
	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// start runs a demo until the test ends, and returns its address and screen once it says that it serves.
func start(t *testing.T, o Config) (string, *processtest.LogBuffer) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &processtest.LogBuffer{}, make(chan error, 1)
	go func() { done <- Run(ctx, o, out, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the demo ended with: %v", err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("the demo left %v behind (%v)", left, err)
		}
	})
	serving := regexp.MustCompile(`(?m)^Serving +(http://\S+), `)
	deadline := time.After(time.Minute)
	for {
		select {
		case err := <-done:
			done <- nil
			t.Fatalf("the demo ended: %v\n%s", err, out)
		case <-deadline:
			t.Fatalf("the demo does not serve:\n%s", out)
		case <-time.After(20 * time.Millisecond):
		}
		if found := serving.FindStringSubmatch(out.String()); found != nil && strings.Contains(out.String(), "Ctrl-C") {
			return found[1], out
		}
	}
}

// fetch is the status, the header and the body of a path.
func fetch(t *testing.T, address, path string) (int, http.Header, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, http.NoBody)
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
	return response.StatusCode, response.Header, body
}

// get is the status and the text of a path.
func get(t *testing.T, address, path string) (int, string) {
	t.Helper()
	code, _, body := fetch(t, address, path)
	return code, string(body)
}

// metric is the one value of an external metric, in thousandths.
func external(t *testing.T, address, name, selector string) int {
	t.Helper()
	code, body := get(t, address, "/apis/external.metrics.k8s.io/v1beta1/namespaces/demo/"+name+
		"?labelSelector="+url.QueryEscape(selector))
	var list struct {
		Items []struct{ Value string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || code != http.StatusOK || len(list.Items) != 1 {
		t.Fatalf("%s{%s}: status %d, %v: %s", name, selector, code, err, body)
	}
	whole, milli := strings.CutSuffix(list.Items[0].Value, "m")
	value, err := strconv.Atoi(whole)
	if err != nil {
		t.Fatalf("%s{%s} is %q: %v", name, selector, list.Items[0].Value, err)
	}
	if !milli {
		value *= 1000
	}
	return value
}

// smallTrace is ten hours of minutes: a wave with a ripple, around 100.
func smallTrace(t *testing.T) string {
	t.Helper()
	text := strings.Builder{}
	text.WriteString("t,load\n")
	for i := range 600 {
		value := 100 + 30*math.Sin(float64(i)/40) + 5*math.Sin(float64(i)*2.7)
		text.WriteString(strconv.Itoa(i*60) + "," + strconv.FormatFloat(value, 'f', 2, 64) + "\n")
	}
	return write(t, text.String())
}

func TestDemoOfATrace(t *testing.T) {
	address, out := start(t, Config{Trace: smallTrace(t), Target: 20, Speed: 60, Program: "forewarm"})
	for _, want := range []string{
		"Load       load.csv, column load: 10 hours in steps of a minute", "60 times as fast", "demo        trace", "/page",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not said:\n%s", want, out)
		}
	}
	own := external(t, address, "trace", "")
	high := external(t, address, "trace", "quantile=0.99,horizon=10m")
	if own < 50_000 || own > 300_000 || high < 50_000 || high > 300_000 {
		t.Errorf("served %d, 0.99 over 10m %d: want near 100,000", own, high)
	}
	if code, body := get(t, address,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/demo/trace?labelSelector=colour%3Dred"); code !=
		http.StatusBadRequest ||
		!strings.Contains(body, "valid keys are badHours, horizon") {
		t.Errorf("an unknown key answers %d: %s", code, body)
	}
	const outlook = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/demo/outlooks/trace"
	for path, want := range map[string]string{
		outlook + "/plot": "<svg", outlook + "/page": "<html", "/metrics": `forewarm_`, "/readyz": "[+]history ok", "/livez": "ok",
	} {
		if code, body := get(t, address, path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s answers %d without %q:\n%.300s", path, code, want, body)
		}
	}
}

// At 600 times life's speed a second has ten minutes of samples, queries and forecasts, all of the one clock.
func TestTheDemandGoesOnByTheDemosClock(t *testing.T) {
	address, _ := start(t, Config{Trace: smallTrace(t), Target: 20, Speed: 600, Program: "forewarm"})
	first := observedAt(t, address)
	deadline := time.Now().Add(20 * time.Second)
	for {
		time.Sleep(50 * time.Millisecond)
		o := observedAt(t, address)
		if o.SampleTime.Sub(first.SampleTime.Time) < 5*time.Minute {
			if time.Now().After(deadline) {
				t.Fatalf("the newest sample is still of %v: %s", o.SampleTime, o.Reason)
			}
			continue
		}
		if *o.Observed < 60 || *o.Observed > 140 || o.State != "Ready" && o.State != "Warming" {
			t.Errorf("%s, observed %v, want what the trace plays: 65 to 135", o.State, *o.Observed)
		}
		return
	}
}

// observedAt is the outlook's status, which must have a sample that is no older than some minutes by the server's Date.
func observedAt(t *testing.T, address string) api.OutlookStatus {
	t.Helper()
	_, header, body := fetch(t, address, "/apis/inspect.forewarm.dev/v1alpha1/namespaces/demo/outlooks/trace")
	var o api.Outlook
	if err := json.Unmarshal(body, &o); err != nil || o.Status.Observed == nil || o.Status.SampleTime == nil {
		t.Fatalf("outlook: %v: %+v", err, o.Status)
	}
	now, err := http.ParseTime(header.Get("Date"))
	if age := now.Sub(o.Status.SampleTime.Time); err != nil || age < 0 || age > 30*time.Minute {
		t.Errorf("the newest sample is %v old by the Date %v (%v)", age, now, err)
	}
	return o.Status
}

func TestDemoOfTheOwnLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("fits models on two weeks of minutes")
	}
	address, out := start(t, Config{Load: "office", Speed: 60, Program: "forewarm"})
	if requests := external(t, address, "requests", ""); requests < 20_000 || requests > 400_000 {
		t.Errorf("requests are %d/1000 a second, want some 40\n%s", requests, out)
	}
	_, page := get(t, address, "/apis/inspect.forewarm.dev/v1alpha1/namespaces/demo/outlooks/requests/page")
	for _, want := range []string{
		"<h2>Objective", "in the last 11 days", "Headroom k", "no bad hour", "Last value", "selected",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not tell how the objective fares: no %q", want)
		}
	}
	for _, want := range []string{
		"\nMet: ", ", it has no bad hour instead of 3 and uses ", "an HPA with a target of 70% of a replica's capacity", "\nForewarm\n", "begins to rise at 08:36, in 2",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

func TestATakenPortIsSaidAtOnce(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // Nothing came in.
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var out strings.Builder
	err = Run(t.Context(), Config{Port: port, Trace: smallTrace(t), Speed: 60}, &out, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "port "+text+" is in use") ||
		!strings.Contains(err.Error(), "--port") {
		t.Errorf("error %v, want one that names the port and what to do", err)
	}
	if out.Len() > 0 {
		t.Errorf("said before it failed:\n%s", out.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left %v behind (%v)", left, err)
	}
}

// The generic API server has no end: what it starts goes with the process.
func TestMain(m *testing.M) {
	const server = "k8s.io/apiserver/pkg/server.preparedGenericAPIServer.RunWithContext"
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(server), goleak.IgnoreAnyFunction(server+".func5"),
		goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/util/wait.Forever"))
}
