//go:build cgo

package nvml_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxb200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

func TestEveryModelIsRead(t *testing.T) {
	for _, test := range []struct {
		server *server.Server
		model  string
		total  uint64
	}{
		{dgxa100.New(), "Mock NVIDIA A100-SXM4-40GB", 40 << 30},
		{dgxh100.New(), "NVIDIA H100 80GB HBM3", 80 << 30},
		{dgxh200.New(), "NVIDIA H200 141GB HBM3e", 141 << 30},
		{dgxb200.New(), "NVIDIA B200 180GB HBM3e", 180 << 30},
	} {
		n := onto(test.server)
		got := n.reader().Read(start)
		if got.Fault != nil || len(got.GPUs) != 8 || got.Driver != n.DriverVersion {
			t.Fatalf("%s: %d GPUs, driver %s, %v", test.model, len(got.GPUs), got.Driver, got.Fault)
		}
		for i, g := range got.GPUs {
			if g.Model != test.model || g.Index != i || g.Minor != i || g.UUID != n.devices[i].UUID || g.Fault != nil {
				t.Errorf("GPU %d is %+v, want a %s", i, g, test.model)
			}
			if g.Memory != (gpu.Memory{Used: 1 << 30, Total: test.total}) {
				t.Errorf("%s has %+v, want 1 GiB of %d GiB", test.model, g.Memory, test.total>>30)
			}
		}
	}
}

func TestSamplesAreTakenOnceAndInOrder(t *testing.T) {
	n := onto(dgxa100.New())
	d := n.devices[0]
	second := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }
	d.busy = []gonvml.Sample{
		sample(second(-1), 30), sample(second(-3), 10), sample(second(-2), 20), sample(second(-2), 20),
		sample(second(0), 250), // what no share can be
		sample(second(99), 40), // a time that has not come
	}
	d.bandwidth = []gonvml.Sample{sample(second(-1), 102)} // noise
	r := n.reader()
	first := r.Read(start).GPUs[0]
	if diff := gocmp.Diff([]float64{0.1, 0.2, 0.3}, ratios(first.Busy)); diff != "" {
		t.Errorf("busy: %s", diff)
	}
	if !first.Busy[0].Time.Equal(second(-3)) {
		t.Errorf("the first sample is of %v, want %v", first.Busy[0].Time, second(-3))
	}
	if diff := gocmp.Diff([]float64{1}, ratios(first.Bandwidth)); diff != "" {
		t.Errorf("bandwidth: %s", diff)
	}
	d.busy = append(d.busy, sample(second(4), 50))
	next := r.Read(second(5)).GPUs[0]
	if diff := gocmp.Diff([]float64{0.5}, ratios(next.Busy)); diff != "" {
		t.Errorf("the second reading: %s", diff)
	}
	if len(next.Bandwidth) > 0 {
		t.Errorf("bandwidth was told twice: %v", next.Bandwidth)
	}
}

func TestAClockThatIsSetBackDoesNotSilenceADevice(t *testing.T) {
	n := onto(dgxa100.New())
	n.devices[0].busy = []gonvml.Sample{sample(start, 10)}
	r := n.reader()
	r.Read(start)
	hour := start.Add(-time.Hour)
	n.devices[0].busy = append(n.devices[0].busy, sample(hour, 70))
	if got := ratios(r.Read(hour.Add(time.Second)).GPUs[0].Busy); !gocmp.Equal(got, []float64{0.7}) {
		t.Errorf("after the clock went back an hour: %v, want 0.7", got)
	}
}

func TestFaultsOfTheLibrary(t *testing.T) {
	for _, test := range []struct {
		answer gonvml.Return
		reason string
		says   string
	}{
		{gonvml.ERROR_LIBRARY_NOT_FOUND, gpu.LibraryMissing, "runtimeClassName: nvidia"},
		{gonvml.ERROR_DRIVER_NOT_LOADED, gpu.DriverNotLoaded, "driver is not loaded"},
		{gonvml.ERROR_LIB_RM_VERSION_MISMATCH, gpu.DriverMismatch, "restart the container"},
		{gonvml.ERROR_NO_PERMISSION, gpu.NoPermission, "refuses"},
		{gonvml.ERROR_UNKNOWN, gpu.Unknown, "nvmlInit: "},
	} {
		n := onto(dgxh100.New())
		n.init = test.answer
		r := n.reader()
		got := r.Read(start)
		if got.Fault == nil || got.Fault.Reason != test.reason || !strings.Contains(got.Fault.Message, test.says) {
			t.Errorf("%v: %+v, want %s", test.answer, got.Fault, test.reason)
		}
		if len(got.GPUs) != 0 {
			t.Errorf("%v: %d GPUs", test.answer, len(got.GPUs))
		}
		if err := r.Close(); err != nil || n.closed != 0 {
			t.Errorf("%v: closing what was never open: %v, %d calls", test.answer, err, n.closed)
		}
	}
	r := nvml.New(gonvml.New(gonvml.WithLibraryPath("/no/such/libnvidia-ml.so.1")))
	if got := r.Read(start); got.Fault == nil || got.Fault.Reason != gpu.LibraryMissing {
		t.Errorf("%+v, want %s", got, gpu.LibraryMissing)
	}
}

func TestFaultsOfADeviceDoNotHideTheOthers(t *testing.T) {
	for _, test := range []struct {
		answer gonvml.Return
		reason string
	}{
		{gonvml.ERROR_GPU_IS_LOST, gpu.OffTheBus},
		{gonvml.ERROR_RESET_REQUIRED, gpu.ResetRequired},
		{gonvml.ERROR_UNKNOWN, gpu.Unknown},
		{gonvml.ERROR_TIMEOUT, gpu.Unknown},
	} {
		n := onto(dgxh100.New())
		r := n.reader()
		r.Read(start)
		for name, fail := range map[string]*gonvml.Return{"calls": &n.devices[3].answer, "handle": &n.devices[3].handle} {
			*fail = test.answer
			got := r.Read(start.Add(5 * time.Second))
			if len(got.GPUs) != 8 || got.Fault != nil {
				t.Fatalf("%v: %d GPUs, %v", test.answer, len(got.GPUs), got.Fault)
			}
			for i, g := range got.GPUs {
				if lost := i == 3; (g.Fault != nil) != lost || g.UUID != n.devices[i].UUID || g.Model == "" {
					t.Errorf("%v in %s: GPU %d is %+v", test.answer, name, i, g)
				}
			}
			if reason := got.GPUs[3].Fault.Reason; reason != test.reason {
				t.Errorf("%v in %s: %s, want %s", test.answer, name, reason, test.reason)
			}
			*fail = gonvml.SUCCESS
		}
	}
}

func TestALostGPUThatIsNoLongerCountedIsStillNamed(t *testing.T) {
	n := onto(dgxh100.New())
	r := n.reader()
	r.Read(start)
	lost := n.devices[2]
	n.devices = append(n.devices[:2:2], n.devices[3:]...)
	got := r.Read(start.Add(5 * time.Second))
	if len(got.GPUs) != 8 {
		t.Fatalf("%d GPUs, want 8", len(got.GPUs))
	}
	last := got.GPUs[7]
	if last.UUID != lost.UUID || last.Fault == nil || last.Fault.Reason != gpu.OffTheBus {
		t.Errorf("the lost GPU is %+v", last)
	}
	for _, g := range got.GPUs[:7] {
		if g.Fault != nil {
			t.Errorf("GPU %d: %v", g.Index, g.Fault)
		}
	}
}

// A story: the driver is unloaded under the agent and comes back half a minute later.
func TestADriverThatComesBackIsFound(t *testing.T) {
	n := onto(dgxh100.New())
	n.devices[0].counts = true
	r := n.reader()
	at := func(seconds int) gpu.Reading { return r.Read(start.Add(time.Duration(seconds) * time.Second)) }
	at(0)
	n.count, n.init = gonvml.ERROR_UNINITIALIZED, gonvml.ERROR_DRIVER_NOT_LOADED
	if got := at(5); got.Fault == nil || got.Fault.Reason != gpu.DriverNotLoaded || n.closed != 1 {
		t.Fatalf("%+v, closed %d times", got.Fault, n.closed)
	}
	if len(n.lent) != 0 {
		t.Errorf("%d buffers were not given back before the library was closed", len(n.lent))
	}
	// The pauses: 5 s, 10 s, 20 s.
	for seconds := 6; seconds < 39; seconds++ {
		if at(seconds).Fault == nil {
			t.Fatalf("no fault after %d s", seconds)
		}
	}
	if n.opened != 3 {
		t.Errorf("opened %d times in 38 s, want once and again after 10 s and 20 s", n.opened)
	}
	n.count, n.init = gonvml.SUCCESS, gonvml.SUCCESS
	for seconds := 39; seconds < 45; seconds++ {
		at(seconds)
	}
	if got := at(45); got.Fault != nil || len(got.GPUs) != 8 || n.opened != 4 {
		t.Errorf("after the driver came back: %d GPUs, %v, opened %d times", len(got.GPUs), got.Fault, n.opened)
	}
	if err := r.Close(); err != nil || len(n.lent) != 0 || n.closed != 2 {
		t.Errorf("closing: %v, %d buffers out, closed %d times", err, len(n.lent), n.closed)
	}
}

func TestADeviceThatIsLostIsAskedForByALibraryOpenedAnew(t *testing.T) {
	n := onto(dgxa100.New())
	r := n.reader()
	n.devices[1].answer = gonvml.ERROR_GPU_IS_LOST
	for seconds := range 60 {
		if got := r.Read(start.Add(time.Duration(seconds) * time.Second)); len(got.GPUs) != 8 {
			t.Fatalf("%d GPUs after %d s", len(got.GPUs), seconds)
		}
	}
	// At 0, 5, 15 and 35 s; the next would be at 75 s.
	if n.opened != 4 || n.closed != 3 {
		t.Errorf("opened %d and closed %d times in a minute, want 4 and 3", n.opened, n.closed)
	}
}

func TestWhatAnOlderDriverLacksIsNotCalled(t *testing.T) {
	n := onto(dgxa100.New())
	for _, name := range []string{
		"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMigMode", "nvmlGpmSampleGet", "nvmlDeviceGetProcessUtilization",
		"nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
		"nvmlDeviceGetMPSComputeRunningProcesses_v3",
	} {
		n.lacks[name] = true
	}
	d := n.devices[0].Device
	d.Config.Name = "A\xff\xfe100" // which is no text
	// An unset function of a mock panics, as a missing symbol ends the process.
	d.GetMemoryInfo_v2Func, d.GetMigModeFunc, n.GpmQueryDeviceSupportFunc = nil, nil, nil
	d.GetProcessUtilizationFunc, d.GetMPSComputeRunningProcessesFunc = nil, nil
	n.devices[0].running = []gonvml.ProcessInfo{{Pid: 7}}
	got := n.reader().Read(start).GPUs[0]
	if got.Fault != nil || got.Memory.Total != 40<<30 || got.Model != "A?100" {
		t.Errorf("%+v", got)
	}
	if len(got.Processes) != 1 || got.Processes[0].Known {
		t.Errorf("processes %+v, want one that cannot be told", got.Processes)
	}
}

func TestSlicesAreTheDriversNotTheModels(t *testing.T) {
	a30 := gpus.Config{Name: "NVIDIA A30", MIGProfiles: gpus.A30_PCIE_24GB.MIGProfiles}
	s, err := server.New(server.WithGPUs(a30))
	if err != nil {
		t.Fatal(err)
	}
	n := onto(s)
	n.devices[0].MigMode = gonvml.DEVICE_MIG_ENABLE
	n.devices[0].parts = append(n.devices[0].parts, part("MIG-1", "NVIDIA A30 MIG 1g.6gb", 3, 1, 1))
	got := n.reader().Read(start).GPUs[0].Instances
	if len(got) != 1 || got[0].Share != 0.25 || got[0].Profile != "1g.6gb" {
		t.Errorf("%+v, want a quarter", got)
	}
}

// A panic costs what panicked: one value, one device, or one reading. The next reading has it again.
func TestAPanicCostsWhatPanicked(t *testing.T) {
	broken := false
	boom := func() {
		if broken {
			panic("index out of range [0] with length 0")
		}
	}
	for _, c := range []struct {
		name string
		// set makes a function of the third device, or of the library, panic.
		set func(n *node, d *device)
		// The third device has a fault, misses a value, or the whole reading has a fault.
		fault, incomplete, whole string
	}{
		{"the name", func(_ *node, d *device) {
			own := d.GetNameFunc
			d.GetNameFunc = func() (string, gonvml.Return) { boom(); return own() }
		}, "", "nvmlDeviceGetName: panic: index", ""},
		{"the memory", func(_ *node, d *device) {
			own := d.GetMemoryInfo_v2Func
			d.GetMemoryInfo_v2Func = func() (gonvml.Memory_v2, gonvml.Return) { boom(); return own() }
		}, "", "nvmlDeviceGetMemoryInfo_v2: panic: ", ""},
		{"the samples", func(_ *node, d *device) {
			own := d.GetSamplesFunc
			d.GetSamplesFunc = func(kind gonvml.SamplingType, since uint64) (gonvml.ValueType, []gonvml.Sample, gonvml.Return) {
				boom()
				return own(kind, since)
			}
		}, "", "nvmlDeviceGetSamples: panic: ", ""},
		{"the list of processes", func(_ *node, d *device) {
			own := d.GetComputeRunningProcessesFunc
			d.GetComputeRunningProcessesFunc = func() ([]gonvml.ProcessInfo, gonvml.Return) { boom(); return own() }
		}, "", "nvmlDeviceGetComputeRunningProcesses: panic: ", ""},
		{"the use of processes", func(_ *node, d *device) {
			own := d.GetProcessUtilizationFunc
			d.GetProcessUtilizationFunc = func(since uint64) ([]gonvml.ProcessUtilizationSample, gonvml.Return) { boom(); return own(since) }
		}, "", "nvmlDeviceGetProcessUtilization: panic: ", ""},
		{"the performance counters", func(n *node, _ *device) {
			own := n.GpmSampleGetFunc
			n.GpmSampleGetFunc = func(d gonvml.Device, s gonvml.GpmSample) gonvml.Return { boom(); return own(d, s) }
		}, "", "nvmlGpmSampleGet: panic: ", ""},
		{"MIG", func(_ *node, d *device) {
			own := d.GetMigModeFunc
			d.GetMigModeFunc = func() (int, int, gonvml.Return) { boom(); return own() }
		}, "", "nvmlDeviceGetMigMode: panic: ", ""},
		{"the UUID", func(_ *node, d *device) {
			own := d.GetUUIDFunc
			d.GetUUIDFunc = func() (string, gonvml.Return) { boom(); return own() }
		}, "reading the GPU: panic: index", "", ""},
		{"the number of devices", func(n *node, _ *device) {
			own := n.DeviceGetCountFunc
			n.DeviceGetCountFunc = func() (int, gonvml.Return) { boom(); return own() }
		}, "", "", "reading the GPUs: panic: index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := onto(dgxh100.New())
			for _, d := range n.devices {
				d.counts, d.busy = true, []gonvml.Sample{sample(start.Add(-time.Second), 30)}
				d.running = []gonvml.ProcessInfo{{Pid: 7}}
			}
			d, r := n.devices[2], n.reader()
			c.set(n, d)
			r.Read(start)
			broken = true
			got := r.Read(start.Add(5 * time.Second))
			broken = false
			if c.whole != "" {
				if got.Fault == nil || !strings.HasPrefix(got.Fault.Message, c.whole) {
					t.Errorf("%+v, want %q", got.Fault, c.whole)
				}
			} else if len(got.GPUs) != 8 || got.Fault != nil {
				t.Fatalf("%d GPUs, %v", len(got.GPUs), got.Fault)
			}
			for i, g := range got.GPUs {
				fault, incomplete := "", ""
				if i == 2 || strings.HasPrefix(c.incomplete, "nvmlGpm") {
					fault, incomplete = c.fault, c.incomplete
				}
				if message(g.Fault) != fault && !strings.HasPrefix(message(g.Fault), cmp.Or(fault, "none")) ||
					message(g.Incomplete) != incomplete &&
						!strings.HasPrefix(message(g.Incomplete), cmp.Or(incomplete, "none")) {
					t.Errorf(
						"GPU %d: fault %q, incomplete %q, want %q and %q",
						i,
						message(g.Fault),
						message(g.Incomplete),
						fault,
						incomplete,
					)
				}
				if g.UUID != n.devices[i].UUID || g.Model == "" {
					t.Errorf("GPU %d is %+v", i, g)
				}
			}
			next := r.Read(start.Add(time.Minute))
			if next.Fault != nil || len(next.GPUs) != 8 {
				t.Fatalf("the next reading: %+v, %+v", next.Fault, next.GPUs)
			}
			if g := next.GPUs[2]; g.Fault != nil || g.Incomplete != nil || g.UUID != d.UUID || g.Memory.Total == 0 {
				t.Errorf("the next reading: %+v", g)
			}
		})
	}
}

func message(f *gpu.Fault) string {
	if f == nil {
		return ""
	}
	return f.Message
}
