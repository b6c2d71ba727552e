package expose_test

import (
	"errors"
	"io"
	"log/slog"
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
	"github.com/forewarm/forewarm/pkg/agent/collect/collecttest"
	"github.com/forewarm/forewarm/pkg/agent/expose"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/signal"
)

const stale = 30 * time.Second

// agent is what is asked here: a collector that made some steps, and a clock that stands where they ended.
type agent struct {
	*httptest.Server

	board    *collect.Board
	registry *prometheus.Registry
	now      time.Time
}

func start(t *testing.T, n *collecttest.Node, steps int) *agent {
	t.Helper()
	c, err := collect.New(collect.DefaultConfig(), collect.Deps{
		Reader: n, Holders: n, Owners: n, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{board: c.Board(), registry: prometheus.NewPedanticRegistry(), now: collecttest.Start()}
	for range steps {
		c.Step(t.Context(), a.now)
		a.now = a.now.Add(5 * time.Second)
	}
	clock := func() time.Time { return a.now }
	a.registry.MustRegister(expose.New(a.board, stale, clock))
	a.Server = httptest.NewServer(expose.Handler(a.board, a.registry, stale, clock))
	t.Cleanup(a.Close)
	return a
}

func (a *agent) get(t *testing.T, path string) (status int, text string) {
	t.Helper()
	answer, err := http.Get(a.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// everything is a node with two GPUs that pods share, one that is cut, and two that are lost, one of them from the
// start.
func everything() *collecttest.Node {
	n := collecttest.SharedGPUs(2, 2)
	cut := collecttest.MIGGPUs(1)
	cut.GPUs[0].UUID, cut.GPUs[0].Index = "GPU-2", 2
	n.GPUs = append(n.GPUs, cut.GPUs[0])
	n.Held = append(n.Held, cut.Held...)
	lost := collecttest.GPU{GPU: gpu.GPU{UUID: "GPU-3", Index: 3, Fault: &gpu.Fault{Reason: gpu.OffTheBus}}}
	unnamed := collecttest.GPU{GPU: gpu.GPU{Index: 4, Fault: &gpu.Fault{Reason: gpu.ResetRequired}}}
	n.GPUs = append(n.GPUs, lost, unnamed)
	return n
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(start(t, everything(), 3).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestMetrics(t *testing.T) {
	a := start(t, everything(), 1)
	want := `
# HELP forewarm_agent_driver_info 1, with the version of the GPU driver.
# TYPE forewarm_agent_driver_info gauge
forewarm_agent_driver_info{version="580.95.05"} 1
# HELP forewarm_gpu_fault 1 while a GPU cannot be read, with the reason; absent while it can.
# TYPE forewarm_gpu_fault gauge
forewarm_gpu_fault{index="3",reason="OffTheBus",uuid="GPU-3"} 1
forewarm_gpu_fault{index="4",reason="ResetRequired",uuid=""} 1
# HELP forewarm_agent_last_reading_timestamp_seconds Time of the last reading of the GPUs.
# TYPE forewarm_agent_last_reading_timestamp_seconds gauge
forewarm_agent_last_reading_timestamp_seconds 1.795176e+09
`
	err := testutil.GatherAndCompare(a.registry, strings.NewReader(want), "forewarm_agent_driver_info",
		"forewarm_gpu_fault", "forewarm_agent_last_reading_timestamp_seconds", "forewarm_agent_error")
	if err != nil {
		t.Error(err)
	}
	_, text := a.get(t, "/metrics")
	for _, line := range []string{
		`forewarm_gpu_pod_busy_ratio{container="server",gpu_instance="",namespace="inference",pod="llama-0-1",uuid="GPU-0"} 0.4`,
		`forewarm_gpu_pod_memory_bandwidth_ratio{container="server",gpu_instance="",namespace="inference",pod="llama-0-1",uuid="GPU-0"} 0.25`,
		`forewarm_gpu_pod_allocated_ratio{container="server",gpu_instance="",namespace="inference",pod="llama-0-1",uuid="GPU-0"} 0.5`,
		`forewarm_gpu_busy_ratio{gpu_instance="7",uuid="GPU-2"} 0.7`,
		`forewarm_gpu_tensor_p95_ratio{gpu_instance="",uuid="GPU-1"} 0.3`,
		`forewarm_gpu_memory_used_bytes{gpu_instance="",uuid="GPU-0"} 6.442450944e+10`,
		`forewarm_gpu_info{gpu_instance="13",index="2",instance_uuid="MIG-0-6",model="NVIDIA H100 80GB HBM3",profile="1g.10gb",uuid="GPU-2"} 1`,
		`forewarm_gpu_share_ratio{gpu_instance="7",uuid="GPU-2"} 0.14285714285714285`,
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
	_, text := start(t, everything(), 3).get(t, "/metrics")
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
	n := collecttest.SharedGPUs(1, 1)
	n.Fault = &gpu.Fault{Reason: gpu.LibraryMissing, Message: "libnvidia-ml.so.1 cannot be loaded"}
	n.KubeletError = errors.New("no socket")
	a := start(t, n, 1)
	want := `
# HELP forewarm_agent_error 1 while the answer of the driver or the kubelet is missing or incomplete, with the reason.
# TYPE forewarm_agent_error gauge
forewarm_agent_error{component="driver",reason="LibraryMissing"} 1
forewarm_agent_error{component="kubelet",reason="NoAnswer"} 1
`
	if err := testutil.GatherAndCompare(a.registry, strings.NewReader(want), "forewarm_agent_error"); err != nil {
		t.Error(err)
	}
}

// A driver that holds on to a call for ever must not look like GPUs that go on as they were.
func TestADriverThatIsStuckShowsNoFigures(t *testing.T) {
	a := start(t, collecttest.SharedGPUs(1, 1), 3)
	a.now = a.now.Add(time.Minute)
	_, text := a.get(t, "/metrics")
	if !strings.Contains(text, `forewarm_agent_error{component="driver",reason="Stuck"} 1`) ||
		strings.Contains(text, "_ratio") {
		t.Errorf("%s", text)
	}
}

func TestHealth(t *testing.T) {
	a := start(t, collecttest.SharedGPUs(1, 1), 0)
	if status, text := a.get(t, "/healthz"); status != 503 || !strings.Contains(text, "no reading yet") {
		t.Errorf("before the first reading: %d %s", status, text)
	}
	a = start(t, collecttest.SharedGPUs(1, 1), 1)
	if status, text := a.get(t, "/healthz"); status != 200 || text != "ok\n" {
		t.Errorf("%d %s", status, text)
	}
	a.now = a.now.Add(time.Minute)
	if status, text := a.get(t, "/healthz"); status != 503 || !strings.Contains(text, "has not answered for 1m5s") {
		t.Errorf("stuck: %d %s", status, text)
	}
	for reason, want := range map[string]int{gpu.LibraryMissing: 503, gpu.DriverMismatch: 503, gpu.DriverNotLoaded: 200} {
		n := collecttest.SharedGPUs(1, 1)
		n.Fault = &gpu.Fault{Reason: reason, Message: "it is gone"}
		if status, _ := start(t, n, 60).get(t, "/healthz"); status != 200 {
			t.Errorf("%s for less than 5 minutes: %d", reason, status)
		}
		if status, text := start(t, n, 70).get(t, "/healthz"); status != want {
			t.Errorf("%s for more: %d %s, want %d", reason, status, text, want)
		}
	}
}

func TestHistoryIsWhatWas(t *testing.T) {
	a := start(t, collecttest.SharedGPUs(1, 2), 10)
	status, text := a.get(t, "/history?job=forewarm-agent&instance=10.0.0.7:9401")
	want := `forewarm_gpu_pod_busy_ratio{namespace="inference",pod="llama-0-1",container="server",uuid="GPU-0",` +
		`instance="10.0.0.7:9401",job="forewarm-agent"} 0.4 1795176015` + "\n"
	if status != 200 || !strings.Contains(text, want) || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Errorf("%d, want %s in\n%s", status, want, text)
	}
	for _, query := range []string{"?__name__=x", "?a-b=x", "?pod=x", "?job=a&job=b"} {
		if status, text = a.get(t, "/history"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if status, text = start(t, collecttest.SharedGPUs(1, 1), 0).get(t, "/history"); status != 200 ||
		!strings.HasSuffix(text, "# EOF\n") {
		t.Errorf("before the first reading: %d %s", status, text)
	}
}

// TestPromtoolTakesTheHistory fills a Prometheus's folder with an hour, and reads it back.
func TestPromtoolTakesTheHistory(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool on PATH: Debian's package prometheus has it")
	}
	a := start(t, everything(), 200)
	_, text := a.get(t, "/history?job=forewarm-agent")
	file, folder := filepath.Join(t.TempDir(), "hour"), filepath.Join(t.TempDir(), "data")
	if err = os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "metrics"}, {"tsdb", "create-blocks-from", "openmetrics", file, folder}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		if args[0] == "check" {
			_, metrics := a.get(t, "/metrics")
			cmd.Stdin = strings.NewReader(metrics)
		}
		out, wrong := cmd.CombinedOutput()
		if wrong != nil {
			t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), wrong, out)
		}
	}
	// Read as the folder of a Prometheus that has nothing of its own yet.
	if err = os.Mkdir(filepath.Join(folder, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	dump := exec.CommandContext(t.Context(), promtool, "tsdb", "dump", "--match",
		`forewarm_gpu_pod_busy_ratio{pod="llama-0-1",job="forewarm-agent",uuid="GPU-0"}`, folder)
	out, err := dump.CombinedOutput()
	if err != nil {
		t.Fatalf("promtool tsdb dump: %v\n%s", err, out)
	}
	if n := strings.Count(string(out), " 0.4 "); n != 66 {
		t.Errorf("%d points of 0.4, want 66 of 1000 s in steps of 15 s:\n%.600s", n, out)
	}
}

func TestALabelsValueIsWrittenSafely(t *testing.T) {
	n := collecttest.SharedGPUs(1, 1)
	n.GPUs[0].UUID, n.Held[0].Device = "GPU-\"\\\n", "GPU-\"\\\n"
	if _, text := start(t, n, 10).get(t, "/history"); !strings.Contains(text, `uuid="GPU-\"\\\n"`) {
		t.Errorf("%s", text)
	}
}

// A driver that lists a GPU twice costs that GPU's second series, not the page.
func TestASeriesThatIsWrongDoesNotHideTheOthers(t *testing.T) {
	n := collecttest.SharedGPUs(2, 1)
	n.GPUs = append(n.GPUs, n.GPUs[0])
	status, text := start(t, n, 1).get(t, "/metrics")
	if status != 200 || !strings.Contains(text, `forewarm_gpu_busy_ratio{gpu_instance="",uuid="GPU-1"} 0.8`) {
		t.Errorf("%d\n%.400s", status, text)
	}
}
