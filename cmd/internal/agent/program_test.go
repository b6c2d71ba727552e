package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/cmd/internal/agent"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/hack/reference"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// driver reads GPUs that do the same all the time, and counts how often they were given back.
type driver struct {
	gpus   []gpu.GPU
	fault  *gpu.Fault
	closed int
	// stuck holds on to every reading until it is closed; nil for a driver that answers.
	stuck chan struct{}
}

func (d *driver) Read(now time.Time) gpu.Reading {
	if d.stuck != nil {
		<-d.stuck
	}
	if d.fault != nil {
		return gpu.Reading{Time: now, Fault: d.fault}
	}
	out := gpu.Reading{Time: now, Driver: "580.95.05", GPUs: slices.Clone(d.gpus)}
	at := func(ratio float64) []gpu.Sample { return []gpu.Sample{{Time: now, Ratio: ratio}} }
	for i := range out.GPUs {
		g := &out.GPUs[i]
		if g.Instances = slices.Clone(g.Instances); len(g.Instances) == 0 && g.Fault == nil {
			g.Busy, g.Bandwidth, g.Tensor = at(0.8), at(0.5), at(0.3)
		}
		for j := range g.Instances {
			g.Instances[j].Busy = at(0.7)
		}
	}
	return out
}

func (d *driver) Close() error { d.closed++; return nil }

// drive is a driver of GPUs with two processes each, 1000 and 1001 on the first.
func drive(count int) *driver {
	d := &driver{}
	for i := range count {
		d.gpus = append(d.gpus, gpu.GPU{
			UUID: "GPU-" + strconv.Itoa(i), Index: i, Model: "NVIDIA H100 80GB HBM3",
			Use: gpu.Use{
				Memory: gpu.Memory{Used: 60 << 30, Total: 80 << 30},
				Processes: []gpu.Process{
					{PID: 1000 + 2*i, Busy: 0.4, Bandwidth: 0.25, Known: true},
					{PID: 1001 + 2*i, Busy: 0.4, Bandwidth: 0.25, Known: true},
				},
			},
		})
	}
	return d
}

// kubelet says that two pods share GPU 0 by time-slicing, and that no one has GPU 1.
type kubelet struct {
	podresources.UnimplementedPodResourcesListerServer
}

func (kubelet) List(
	context.Context, *podresources.ListPodResourcesRequest,
) (*podresources.ListPodResourcesResponse, error) {
	var out podresources.ListPodResourcesResponse
	for i := range 2 {
		out.PodResources = append(out.PodResources, &podresources.PodResources{
			Namespace: "inference", Name: fmt.Sprintf("llama-0-%d", i),
			Containers: []*podresources.ContainerResources{{
				Name: "server",
				Devices: []*podresources.ContainerDevices{
					{ResourceName: "nvidia.com/gpu", DeviceIds: []string{fmt.Sprintf("0::%d", i)}},
				},
			}},
		})
	}
	return &out, nil
}

func (kubelet) GetAllocatableResources(
	context.Context, *podresources.AllocatableResourcesRequest,
) (*podresources.AllocatableResourcesResponse, error) {
	return &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{
		{ResourceName: "nvidia.com/gpu", DeviceIds: []string{"0::0", "0::1", "1::0", "1::1"}},
	}}, nil
}

// node is a node's folders and its kubelet's socket, as flags. Processes 1000 and 1001 run in their
// pods.
func node(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		id := strings.Repeat(strconv.Itoa(i), 64)
		uid := fmt.Sprintf("8e6b5a30-6f0e-4f7b-9a52-3d2c1b0a9f8%d", i)
		write(fmt.Sprintf("proc/%d/stat", 1000+i), fmt.Sprintf("%d (server) S 1 1 1 0 -1 0 1 0 0 0 7 3 0 0 20 0 1 0 "+
			"99 1 5\n", 1000+i))
		write(fmt.Sprintf("proc/%d/cgroup", 1000+i), "0::/kubepods/pod"+uid+"/"+id+"\n")
		write(fmt.Sprintf("log/containers/llama-0-%d_inference_server-%s.log", i, id), "")
	}
	socket := filepath.Join(dir, "kubelet.sock")
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, kubelet{})
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { server.Stop(); served.Wait() })
	return []string{"--pod-resources-socket", socket, "--proc", dir + "/proc", "--logs", dir + "/log"}
}

func run(t *testing.T, d agent.Driver, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, words bytes.Buffer
	code = agent.Program{Version: "v1", Driver: d}.Run(t.Context(), args, &out, &words)
	return code, out.String(), words.String()
}

func TestOnce(t *testing.T) {
	d := drive(2)
	d.gpus[0].Processes[0].Busy = 0.2 // of 0.6 that both did
	cut := d.gpus[1]
	cut.UUID, cut.Index, cut.Instances = "GPU-2", 2, []gpu.Instance{{
		UUID: "MIG-0-0", ID: 7, Profile: "1g.10gb", Share: 1. / 7,
		Use: gpu.Use{Memory: gpu.Memory{Used: 5 << 30, Total: 10 << 30}},
	}}
	d.gpus = append(d.gpus, cut, gpu.GPU{UUID: "GPU-3", Index: 3, Fault: &gpu.Fault{Reason: gpu.OffTheBus}})
	code, stdout, stderr := run(t, d, append(node(t), "--once")...)
	_, text, _ := strings.Cut(stdout, "\n\n")
	want := `
GPU  MIG          MODEL                  BUSY       MAX  P95  BANDWIDTH  TENSOR  MEMORY           UUID
0    -            NVIDIA H100 80GB HBM3  80%        80%  80%  50%        30%     61440/81920 MiB  GPU-0
1    -            NVIDIA H100 80GB HBM3  80%        80%  80%  50%        30%     61440/81920 MiB  GPU-1
2    -            NVIDIA H100 80GB HBM3  -          -    -    -          -       61440/81920 MiB  GPU-2
2    1g.10gb (7)  NVIDIA H100 80GB HBM3  70%        70%  70%  -          -       5120/10240 MiB   MIG-0-0
3    -            -                      OffTheBus                                                GPU-3

NAMESPACE  POD        CONTAINER  GPU  MIG  ALLOCATED  BUSY  BANDWIDTH
inference  llama-0-0  server     0    -    50%        20%   25%
inference  llama-0-1  server     0    -    50%        40%   25%
`
	if code != 0 || "\n"+text != want || stderr != "" || d.closed != 1 {
		t.Errorf("code %d, closed %d times, stderr %q:\n%s", code, d.closed, stderr, stdout)
	}
}

func TestJSONLeavesOutWhatIsNotKnown(t *testing.T) {
	d := drive(1)
	var got struct{ GPUs, Pods []map[string]any }
	code, stdout, _ := run(t, d, append(node(t), "--once", "--json")...)
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || len(got.GPUs) != 1 ||
		len(got.Pods) != 2 || got.Pods[0]["busy"] != 0.4 || got.Pods[0]["gpuInstance"] != nil {
		t.Fatalf("code %d, %v:\n%s", code, err, stdout)
	}
	d.gpus[0].Memory = gpu.Memory{}
	// Two share a GPU, and no one knows whose its processes are.
	_, stdout, _ = run(t, d, append(node(t), "--once", "--json", "--proc", t.TempDir())...)
	got.GPUs, got.Pods = nil, nil
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v:\n%s", err, stdout)
	}
	if keys := slices.Sorted(maps.Keys(got.Pods[0])); !slices.Equal(keys, []string{
		"allocated", "container", "namespace", "pod", "uuid",
	}) {
		t.Errorf("a pod has %q", keys)
	}
	if keys := slices.Sorted(maps.Keys(got.GPUs[0])); !slices.Equal(keys, []string{
		"busy", "index", "memoryBandwidth", "model", "share", "tensor", "uuid",
	}) {
		t.Errorf("a GPU has %q", keys)
	}
	d.fault = &gpu.Fault{Reason: gpu.LibraryMissing, Message: "libnvidia-ml.so.1 cannot be loaded"}
	_, stdout, _ = run(t, d, append(node(t), "--once", "--json")...)
	if !strings.Contains(stdout, `"gpus": []`) || !strings.Contains(stdout, `"reason": "LibraryMissing"`) {
		t.Errorf("nothing was read: %s", stdout)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	d := drive(1)
	code, stdout, stderr := run(t, d, "--once", "--pod-resources-socket", filepath.Join(t.TempDir(), "no.sock"))
	if code != 0 || !strings.Contains(stdout, "80%") || !strings.Contains(stderr, "no.sock") {
		t.Errorf("without a kubelet: %d\n%s%s", code, stdout, stderr)
	}
	d.fault = &gpu.Fault{Reason: gpu.LibraryMissing, Message: "libnvidia-ml.so.1 cannot be loaded"}
	if code, stdout, stderr = run(t, d, append(node(t), "--once")...); code != 1 || stdout != "" ||
		!strings.Contains(stderr, "no GPU was read: libnvidia-ml.so.1 cannot be loaded") {
		t.Errorf("without a library: %d\n%s%s", code, stdout, stderr)
	}
}

func TestMisuse(t *testing.T) {
	for _, test := range []struct{ args, says string }{
		{"--interval 1m", "an interval of 1m0s"},
		{"--listen x", "--listen"},
		{"--json", "--json needs --once"},
		{"--log-level loud", "--log-level"},
		{"--fake", "unknown flag: --fake"},
		{"--f\x1b[2J\u202e", `unknown flag: --f\u001b[2J\u202e`},
		{"serve", `unexpected argument "serve"`},
		{"--once --pod-resources-socket=", "path of the kubelet's pod-resources socket is not set"},
	} {
		code, _, stderr := run(t, drive(1), strings.Fields(test.args)...)
		if code == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: %d %s", test.args, code, stderr)
		}
	}
	if code, stdout, _ := run(t, nil, "--help"); code != 0 || !strings.Contains(stdout, "--state") {
		t.Errorf("--help: %d %s", code, stdout)
	}
	if code, stdout, _ := run(t, nil, "--version"); code != 0 || !strings.HasPrefix(stdout, "forewarm-agent v1 go") {
		t.Errorf("--version: %d %s", code, stdout)
	}
}

// serving is an agent that runs until end is called, which gives its exit code.
func serving(t *testing.T, d agent.Driver, args ...string) (url string, log *processtest.LogBuffer, end func() int) {
	t.Helper()
	log = &processtest.LogBuffer{}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan int, 1)
	args = append([]string{"--listen", "127.0.0.1:0", "--interval", "1s", "--window", "2s"}, args...)
	go func() { over <- agent.Program{Driver: d}.Run(ctx, args, io.Discard, log) }()
	address := regexp.MustCompile(`address=(\S+)`)
	for range 200 {
		if found := address.FindStringSubmatch(log.String()); found != nil {
			return "http://" + found[1], log, func() int { cancel(); return <-over }
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	t.Fatalf("it does not serve (exit %d):\n%s", <-over, log)
	return "", nil, nil
}

// get asks until the answer has a text.
func get(t *testing.T, url, text string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var body []byte
	for range 300 {
		answer, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err = io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), text) {
			return string(body)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s has no %s:\n%s", url, text, body)
	return ""
}

// A story: an agent runs, is told to end, and another one remembers.
func TestServe(t *testing.T) {
	d := drive(2)
	state := filepath.Join(t.TempDir(), "hour")
	args := append(node(t), "--state", state)
	url, log, end := serving(t, d, args...)
	get(
		t,
		url+"/metrics",
		`forewarm_gpu_pod_busy_ratio{container="server",gpu_instance="",namespace="inference",pod="llama-0-1",uuid="GPU-0"} 0.4`,
	)
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	served := get(t, url+"/metrics", "forewarm_agent_build_info{")
	if unlisted := reference.Unlisted(string(page), served); len(unlisted) > 0 {
		t.Errorf("served, and not in docs/reference/metrics.md: %q", unlisted)
	}
	get(t, url+"/healthz", "ok")
	get(t, url+"/history", "# EOF")
	began := time.Now()
	if code := end(); code != 0 || time.Since(began) > time.Second || d.closed != 1 {
		t.Errorf("ended with %d after %v, the driver closed %d times\n%s", code, time.Since(began), d.closed, log)
	}
	if text, err := os.ReadFile(state); err != nil || !strings.HasPrefix(string(text), "forewarm-agent-hour 1") {
		t.Errorf("the state: %v", err)
	}
	if err := os.WriteFile(state, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, log, end = serving(t, drive(1), args...)
	if code := end(); code != 0 || !strings.Contains(log.String(), "starting without it") ||
		!strings.Contains(log.String(), state) {
		t.Errorf("on another program's file: %d\n%s", code, log)
	}
}

func TestADriverThatIsStuckKeepsNobodyFromEnding(t *testing.T) {
	d := &driver{stuck: make(chan struct{})}
	url, log, end := serving(t, d, append(node(t), "--state", filepath.Join(t.TempDir(), "hour"))...)
	get(t, url+"/healthz", "no reading yet")
	began := time.Now()
	if code := end(); code != 0 || time.Since(began) > time.Second || d.closed != 0 {
		t.Errorf("ended with %d after %v, the driver closed %d times\n%s", code, time.Since(began), d.closed, log)
	}
	close(d.stuck)
}

func TestAPortThatIsTakenIsSaid(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}()
	code, _, stderr := run(t, drive(1), "--listen", listener.Addr().String())
	if code != 1 || !strings.Contains(stderr, "address already in use") {
		t.Errorf("%d %s", code, stderr)
	}
}
