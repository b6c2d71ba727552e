//go:build cgo

package nvml_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

// stub is a reader through a library with NVML's interface, so that the way through cgo is walked: NVIDIA's bindings load it as
// the driver's. It is closed when the test ends.
func stub(tb testing.TB, flags ...string) *nvml.Reader {
	tb.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		tb.Skip("no C compiler to build the stub of a driver's library with")
	}
	list := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml")
	module, err := list.Output()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "libnvidia-ml.so.1")
	flags = append(flags, "-shared", "-fPIC", "-O1", "-w", "-I",
		filepath.Join(strings.TrimSpace(string(module)), "pkg", "nvml"), "-o", path,
		filepath.Join("testdata", "stub.c"))
	if out, err := exec.CommandContext(tb.Context(), compiler, flags...).CombinedOutput(); err != nil {
		tb.Fatalf("cc: %v\n%s", err, out)
	}
	r := nvml.New(gonvml.New(gonvml.WithLibraryPath(path)))
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// The tests below load a library each; NVIDIA's bindings have one at a time.

func TestThroughTheLibrary(t *testing.T) {
	r := stub(t)
	first := time.Now()
	r.Read(first)
	time.Sleep(150 * time.Millisecond)
	now := time.Now()
	got := r.Read(now)
	if got.Fault != nil || len(got.GPUs) != 8 || got.Driver != "580.95.05" {
		t.Fatalf("%+v", got)
	}
	g := got.GPUs[7]
	if g.UUID != "GPU-00000007-0000-4000-8000-000000000000" || g.Model != "NVIDIA H100 80GB HBM3" || g.Minor != 7 ||
		g.Fault != nil {
		t.Errorf("%+v", g)
	}
	if g.Memory != (gpu.Memory{Used: 60 << 30, Total: 80 << 30}) {
		t.Errorf("memory %+v", g.Memory)
	}
	// The stub's counters tell the numbers of the metrics in percent: 10 is bandwidth, 5 any tensor pipe.
	if !cmp.Equal(ratios(g.Bandwidth), []float64{0.1}, approx) ||
		!cmp.Equal(ratios(g.Tensor), []float64{0.05}, approx) {
		t.Errorf("counters %+v", g.Use)
	}
	want := []gpu.Process{
		{PID: 1014, Busy: 0.6, Bandwidth: 0.3, Known: true, Memory: 1 << 30},
		{PID: 1015, Busy: 0.2, Bandwidth: 0.1, Known: true, Memory: 1 << 30},
	}
	if diff := cmp.Diff(want, g.Processes, approx); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
}

func TestTheBufferIsReadToItsEndAndOnce(t *testing.T) {
	r := stub(t)
	now := time.Now()
	all := r.Read(now).GPUs[0].Busy
	if len(all) != 120 || all[0].Ratio != 0.8 || now.Sub(all[119].Time) > time.Second {
		t.Fatalf("%d samples, want 120 up to now", len(all))
	}
	time.Sleep(400 * time.Millisecond)
	more := r.Read(time.Now()).GPUs[0].Busy
	if len(more) < 2 || len(more) > 4 || !more[0].Time.After(all[119].Time) {
		t.Errorf("%d samples after 0.4 s, want 2 or 3: %v", len(more), more)
	}
}

// inOwnProcess runs the test again in a process of its own, and reports whether this is that process: NVIDIA's bindings keep to the
// functions of the first library that they loaded.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	const inside = "FOREWARM_TEST_OWN_PROCESS"
	if os.Getenv(inside) != "" {
		return true
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(again.Environ(), inside+"=1")
	out, err := again.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	return false
}

// What the old library lacks would end this process.
func TestAnOldLibrary(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	r := stub(t, "-DOLD")
	got := r.Read(time.Now())
	if got.Fault != nil || len(got.GPUs) != 8 {
		t.Fatalf("%+v", got)
	}
	g := got.GPUs[0]
	if len(g.Busy) == 0 || g.Memory.Used != 61<<30 || len(g.Processes) != 1 || g.Processes[0].Known {
		t.Errorf("%+v", g)
	}
}

// A story through the library: no driver, then one with a device that is lost, then all of them.
func TestADriverThatComesAndADeviceThatIsLost(t *testing.T) {
	r := stub(t)
	now := time.Now()
	read := func(unloaded, lost string) gpu.Reading {
		t.Setenv("STUB_UNLOADED", unloaded)
		t.Setenv("STUB_LOST", lost)
		got := r.Read(now)
		now = now.Add(20 * time.Second)
		return got
	}
	if got := read("1", ""); got.Fault == nil || got.Fault.Reason != gpu.DriverNotLoaded {
		t.Errorf("%+v", got.Fault)
	}
	got := read("", "3")
	if got.Fault != nil || len(got.GPUs) != 8 || got.GPUs[4].Fault != nil {
		t.Fatalf("%+v", got)
	}
	if f := got.GPUs[3].Fault; f == nil || f.Reason != gpu.OffTheBus || !strings.Contains(f.Message, "GPU is lost") {
		t.Errorf("%+v", f)
	}
	if got = read("", ""); got.GPUs[3].Fault != nil {
		t.Errorf("after it came back: %+v", got.GPUs[3].Fault)
	}
}

// While the agent reads, processes start and end, so a buffer may be too small by the time it is filled. NVIDIA's bindings then slice
// past its end. That costs one value of one reading.
func TestABufferThatGrowsCostsOneValueOfOneReading(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	r := stub(t, "-DGROWS")
	const counted = 1 // Without samples, a GPU's activity is that of its performance counters.
	for _, c := range []struct {
		name, grows, says string
		// used is of how many of the two processes the use is known; busy is the least number of samples.
		used, busy int
	}{
		{"the use of the processes", "use", "nvmlDeviceGetProcessUtilization: panic: ", 0, 2},
		{"the list of the processes, which is longer than the buffer", "list", "nvmlDeviceGetComputeRunningProcesses: panic: ", 2, 2},
		{"the list of the processes, which is empty after all", "empty list", "nvmlDeviceGetComputeRunningProcesses: panic: ", 2, 2},
		{"the list of the processes, which the bindings ask for again", "longer list", "", 2, 2},
		{"the list of the MPS clients", "MPS list", "nvmlDeviceGetMPSComputeRunningProcesses: panic: ", 2, 2},
		{"the samples", "samples", "", 2, counted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("STUB_GROWS", "")
			now := time.Now()
			r.Read(now)
			for step, grows := range []string{c.grows, ""} {
				t.Setenv("STUB_GROWS", grows)
				time.Sleep(350 * time.Millisecond) // The stub takes six samples a second.
				now = time.Now()
				got := r.Read(now)
				if got.Fault != nil || len(got.GPUs) != 8 {
					t.Fatalf("%+v", got)
				}
				g := got.GPUs[7]
				known := 0
				for _, p := range g.Processes {
					if p.Known {
						known++
					}
				}
				want, busy, says := c.used, c.busy, c.says
				if step == 1 {
					want, busy, says = 2, 2, ""
				}
				if len(g.Processes) != 2 || known != want || len(g.Busy) < busy ||
					busy == counted && len(g.Busy) != counted {
					t.Errorf(
						"reading %d: %+v, want 2 processes, %d with their use, and %d samples",
						step,
						g,
						want,
						busy,
					)
				}
				if g.Fault != nil || g.Memory.Total == 0 || len(g.Tensor) == 0 {
					t.Errorf("reading %d: %+v, want all other values", step, g)
				}
				switch {
				case says == "" && g.Incomplete != nil:
					t.Errorf("reading %d: %+v, want all values", step, g.Incomplete)
				case says != "" && (g.Incomplete == nil || !strings.HasPrefix(g.Incomplete.Message, says)):
					t.Errorf("reading %d: %+v, want that it begins with %q", step, g.Incomplete, says)
				}
			}
		})
	}
}
