package expose_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/expose"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
	"github.com/forewarm/forewarm/pkg/signal"
)

const stale = 30 * time.Second

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// agent serves a picture at a time that a test sets.
type agent struct {
	registry *prometheus.Registry
	handler  http.Handler
	now      time.Time
}

func start(p *collect.Picture) *agent {
	a, board := &agent{registry: prometheus.NewPedanticRegistry(), now: noon}, &collect.Board{}
	board.Store(p)
	clock := func() time.Time { return a.now }
	a.registry.MustRegister(expose.New(board, stale, clock))
	a.handler = expose.Handler(board, a.registry, stale, clock)
	return a
}

func (a *agent) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	answer := httptest.NewRecorder()
	a.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func flat(value float64) gpu.Summary {
	return gpu.Summary{Mean: value, Max: value, P95: value, Known: true}
}

// everything is a GPU that two pods share, one that is cut, and two that are lost, one of them from the start; and an
// hour of it.
func everything() *collect.Picture {
	model, memory := "NVIDIA H100 80GB HBM3", gpu.Memory{Used: 60 << 30, Total: 80 << 30}
	lost := &gpu.Fault{Reason: gpu.OffTheBus}
	p := &collect.Picture{Time: noon, Driver: "580.95.05", GPUs: []collect.Device{
		{
			UUID:      "GPU-0",
			Model:     model,
			Share:     1,
			Memory:    memory,
			Busy:      flat(0.8),
			Bandwidth: flat(0.5),
			Tensor:    flat(0.3),
		},
		{UUID: "GPU-2", Index: 2, Model: model, Share: 1, Memory: memory},
		{
			UUID: "GPU-2", Index: 2, Model: model, Instance: "13", InstanceUUID: "MIG-0-6", Profile: "1g.10gb",
			Share: 1. / 7, Busy: flat(0.7),
		},
		{UUID: "GPU-3", Index: 3, Share: 1, Fault: lost},
		{Index: 4, Share: 1, Fault: &gpu.Fault{Reason: gpu.ResetRequired}},
	}}
	p.Held.Estimated, p.Held.Unidentified = true, map[string]int{pods.UnknownID: 2}
	hour := collect.NewRecorder(collect.Hour{})
	for _, name := range []string{"llama-0", "llama-1"} {
		c := pods.Container{Namespace: "inference", Pod: name, Name: "server"}
		p.Pods = append(p.Pods, pods.Part{
			Container: c, GPU: "GPU-0", Allocated: 0.5, Busy: pods.Figure{Value: 0.4, Known: true},
			Bandwidth: pods.Figure{Value: 0.25, Known: true},
		})
		for step := range 240 {
			hour.Add(noon.Add(time.Duration(step-240)*collect.HistoryStep), collect.Series{
				Measure: collect.PodBusy, UUID: "GPU-0", Namespace: c.Namespace, Pod: c.Pod, Container: c.Name,
			}, 0.4)
		}
	}
	p.Hour = hour.Hour(noon)
	return p
}

func TestMetrics(t *testing.T) {
	a := start(everything())
	problems, err := testutil.GatherAndLint(a.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	described := make(chan *prometheus.Desc, 100)
	expose.New(nil, stale, nil).Describe(described)
	if families, err := a.registry.Gather(); err != nil || len(families) != len(described) {
		t.Errorf("%d metrics are shown, want all %d that are described: %v", len(families), len(described), err)
	}
	_, text := a.get(t, "/metrics")
	pod := `{container="server",gpu_instance="",namespace="inference",pod="llama-1",uuid="GPU-0"}`
	for _, line := range []string{
		`forewarm_agent_driver_info{version="580.95.05"} 1`,
		`forewarm_agent_error{component="kubelet",reason="ReplicasUnknown"} 1`,
		`forewarm_agent_last_reading_timestamp_seconds 1.795176e+09`,
		`forewarm_agent_unidentified_devices{reason="UnknownID"} 2`,
		`forewarm_gpu_fault{index="3",reason="OffTheBus",uuid="GPU-3"} 1`,
		`forewarm_gpu_fault{index="4",reason="ResetRequired",uuid=""} 1`,
		`forewarm_gpu_pod_busy_ratio` + pod + ` 0.4`,
		`forewarm_gpu_pod_memory_bandwidth_ratio` + pod + ` 0.25`,
		`forewarm_gpu_pod_allocated_ratio` + pod + ` 0.5`,
		`forewarm_gpu_busy_ratio{gpu_instance="13",uuid="GPU-2"} 0.7`,
		`forewarm_gpu_memory_bandwidth_max_ratio{gpu_instance="",uuid="GPU-0"} 0.5`,
		`forewarm_gpu_tensor_p95_ratio{gpu_instance="",uuid="GPU-0"} 0.3`,
		`forewarm_gpu_memory_used_bytes{gpu_instance="",uuid="GPU-0"} 6.442450944e+10`,
		`forewarm_gpu_info{gpu_instance="13",index="2",instance_uuid="MIG-0-6",model="NVIDIA H100 80GB HBM3",profile="1g.10gb",uuid="GPU-2"} 1`,
		`forewarm_gpu_share_ratio{gpu_instance="13",uuid="GPU-2"} 0.14285714285714285`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if strings.Contains(text, `forewarm_gpu_busy_ratio{gpu_instance="",uuid="GPU-3"}`) {
		t.Error("a lost GPU is shown as one that is known")
	}
}

// The presets of package signal find their series.
func TestThePresetsAskForWhatIsThere(t *testing.T) {
	_, text := start(everything()).get(t, "/metrics")
	names := regexp.MustCompile(`forewarm_\w+`)
	for _, preset := range []string{"nvml/gpu-busy", "nvml/memory-bandwidth", "nvml/gpus-allocated"} {
		p, err := signal.Lookup(preset)
		if err != nil {
			t.Fatal(err)
		}
		query, err := p.Render("inference", signal.Target{Kind: "Deployment", Name: "llama"}, signal.DefaultTrust())
		if err != nil {
			t.Fatal(err)
		}
		asked := names.FindAllString(query, -1)
		slices.Sort(asked)
		asked = slices.Compact(asked)
		if len(asked) != 1 || !strings.Contains(text, "\n"+asked[0]+"{") {
			t.Errorf("%s asks for %v, which is not shown", preset, asked)
		}
	}
}

func TestFaultsOfTheAgent(t *testing.T) {
	p := everything()
	p.Fault, p.KubeletError = &gpu.Fault{Reason: gpu.LibraryMissing}, errors.New("no socket")
	a := start(p)
	_, text := a.get(t, "/metrics")
	for _, labels := range []string{`component="driver",reason="LibraryMissing"`, `component="kubelet",reason="NoAnswer"`} {
		if !strings.Contains(text, "forewarm_agent_error{"+labels+"} 1\n") {
			t.Errorf("no error of %s in\n%s", labels, text)
		}
	}
	// A driver that holds on to a call for ever must not look like GPUs that go on as they were.
	a.now = a.now.Add(time.Minute)
	_, text = a.get(t, "/metrics")
	if !strings.Contains(text, `forewarm_agent_error{component="driver",reason="Stuck"} 1`) ||
		strings.Contains(text, "_ratio") {
		t.Errorf("%s", text)
	}
}

func TestHealth(t *testing.T) {
	failed := func(reason string) *collect.Picture {
		fault := &gpu.Fault{Reason: reason, Message: "it is gone"}
		return &collect.Picture{Time: noon, Fault: fault, Since: noon.Add(-5 * time.Minute)}
	}
	for _, test := range []struct {
		picture *collect.Picture
		after   time.Duration
		status  int
		says    string
	}{
		{nil, 0, 503, "no reading yet"},
		{everything(), stale, 200, "ok\n"},
		{everything(), 65 * time.Second, 503, "has not answered for 1m5s"},
		{failed(gpu.LibraryMissing), 0, 200, "ok\n"},
		{failed(gpu.LibraryMissing), time.Second, 503, "it is gone"},
		{failed(gpu.DriverMismatch), time.Second, 503, "it is gone"},
		{failed(gpu.DriverNotLoaded), time.Second, 200, "ok\n"},
	} {
		a := start(test.picture)
		a.now = noon.Add(test.after)
		if status, text := a.get(t, "/healthz"); status != test.status || !strings.Contains(text, test.says) {
			t.Errorf("%v after %+v: %d %s, want %d %s", test.after, test.picture, status, text, test.status, test.says)
		}
	}
}

func TestHistoryIsWhatWas(t *testing.T) {
	p := everything()
	a := start(p)
	status, text := a.get(t, "/history?job=forewarm-agent&instance=10.0.0.7:9401")
	want := `forewarm_gpu_pod_busy_ratio{namespace="inference",pod="llama-1",container="server",uuid="GPU-0",` +
		`instance="10.0.0.7:9401",job="forewarm-agent"} 0.4 1795176000` + "\n"
	if status != 200 || !strings.Contains(text, want) || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Errorf("%d, want %s in\n%s", status, want, text)
	}
	for _, query := range []string{"?__name__=x", "?a-b=x", "?pod=x", "?job=a&job=b"} {
		if status, text = a.get(t, "/history"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if status, text = start(nil).get(t, "/history"); status != 200 || !strings.HasSuffix(text, "# EOF\n") {
		t.Errorf("before the first reading: %d %s", status, text)
	}
	p.Hour.Lines[0].Series.UUID = "GPU-\"\\\n"
	if _, text = a.get(t, "/history"); !strings.Contains(text, `uuid="GPU-\"\\\n"`) {
		t.Errorf("a label's value is not written safely:\n%s", text)
	}
}

// TestPromtoolTakesTheHistory fills a Prometheus's folder with an hour, and reads it back.
func TestPromtoolTakesTheHistory(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool on PATH: Debian's package prometheus has it")
	}
	a := start(everything())
	run := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, failed := cmd.CombinedOutput()
		if failed != nil {
			t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), failed, out)
		}
		return string(out)
	}
	_, served := a.get(t, "/metrics")
	run(served, "check", "metrics")
	_, text := a.get(t, "/history?job=forewarm-agent")
	file, folder := filepath.Join(t.TempDir(), "hour"), filepath.Join(t.TempDir(), "data")
	if err = os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run("", "tsdb", "create-blocks-from", "openmetrics", file, folder)
	// Read as the folder of a Prometheus that has nothing of its own yet.
	if err = os.Mkdir(filepath.Join(folder, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	out := run("", "tsdb", "dump", "--match",
		`forewarm_gpu_pod_busy_ratio{pod="llama-1",job="forewarm-agent",uuid="GPU-0"}`, folder)
	if n := strings.Count(out, " 0.4 "); n != 240 {
		t.Errorf("%d points of 0.4, want 240, an hour in steps of 15 s:\n%.600s", n, out)
	}
}

// A driver that lists a GPU twice costs that GPU's second series, not the page.
func TestASeriesThatIsWrongDoesNotHideTheOthers(t *testing.T) {
	p := everything()
	p.GPUs = append(p.GPUs, p.GPUs[0])
	status, text := start(p).get(t, "/metrics")
	if status != 200 || !strings.Contains(text, `forewarm_gpu_busy_ratio{gpu_instance="13",uuid="GPU-2"} 0.7`) {
		t.Errorf("%d\n%.400s", status, text)
	}
}
