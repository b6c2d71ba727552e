//go:build cgo

package nvml_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

func TestProcesses(t *testing.T) {
	n := onto(dgxa100.New())
	d := n.devices[0]
	stamp := uint64(start.Add(-time.Second).UnixMicro())
	d.running = []gonvml.ProcessInfo{{Pid: 20, UsedGpuMemory: 5}, {Pid: 10, UsedGpuMemory: math.MaxUint64}}
	d.mps = []gonvml.ProcessInfo{{Pid: 30, UsedGpuMemory: 6}, {Pid: 20, UsedGpuMemory: 5}}
	d.used = []gonvml.ProcessUtilizationSample{
		{Pid: 20, TimeStamp: stamp, SmUtil: 40, MemUtil: 10},
		{Pid: 20, TimeStamp: stamp - 1, SmUtil: 20, MemUtil: 0},
		{Pid: 40, TimeStamp: stamp, SmUtil: 5},                  // it has ended since
		{Pid: 0, TimeStamp: stamp, SmUtil: 5},                   // an empty entry
		{Pid: 10, TimeStamp: stamp, SmUtil: 4_000_000_000},      // what no share can be
		{Pid: 50, TimeStamp: 0, SmUtil: 9},                      // an entry of no time
		{Pid: 60, TimeStamp: uint64(math.MaxUint64), SmUtil: 9}, // one of a time to come
	}
	r := n.reader()
	want := []gpu.Process{
		{PID: 10, Known: true},
		{PID: 20, Known: true, Busy: 0.3, Bandwidth: 0.05, Memory: 5},
		{PID: 30, Known: true, Memory: 6},
		{PID: 40, Known: true, Busy: 0.05},
	}
	got := r.Read(start).GPUs[0].Processes
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	// Nothing new: all that run are idle.
	for _, p := range r.Read(start.Add(5 * time.Second)).GPUs[0].Processes {
		if !p.Known || p.Busy != 0 || p.PID == 40 {
			t.Errorf("an idle device has %+v", p)
		}
	}
}

var approx = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })

func TestABufferOfNoEntriesIsAQuietDevice(t *testing.T) {
	n := onto(dgxa100.New())
	n.devices[0].running = []gonvml.ProcessInfo{{Pid: 20}}
	n.devices[0].GetProcessUtilizationFunc = func(uint64) ([]gonvml.ProcessUtilizationSample, gonvml.Return) {
		return []gonvml.ProcessUtilizationSample{}, gonvml.ERROR_INSUFFICIENT_SIZE
	}
	got := n.reader().Read(start).GPUs[0]
	if got.Fault != nil || len(got.Processes) != 1 || !got.Processes[0].Known {
		t.Errorf("%+v", got)
	}
}

func TestAMeasureThatFailsIsNotTheDevice(t *testing.T) {
	n := onto(dgxa100.New())
	d := n.devices[0]
	d.busy = []gonvml.Sample{sample(start, 50)}
	d.GetProcessUtilizationFunc = func(uint64) ([]gonvml.ProcessUtilizationSample, gonvml.Return) {
		return nil, gonvml.ERROR_UNKNOWN
	}
	r := n.reader()
	if got := r.Read(start).GPUs[0]; got.Fault != nil || len(got.Busy) != 1 {
		t.Errorf("one measure fails: %+v", got)
	}
	unknown := func() (gonvml.Memory_v2, gonvml.Return) { return gonvml.Memory_v2{}, gonvml.ERROR_UNKNOWN }
	d.GetMemoryInfo_v2Func = unknown
	d.GetMemoryInfoFunc = func() (gonvml.Memory, gonvml.Return) { return gonvml.Memory{}, gonvml.ERROR_UNKNOWN }
	got := r.Read(start.Add(time.Second)).GPUs[0]
	if got.Fault == nil || got.Fault.Reason != gpu.Unknown ||
		!strings.Contains(got.Fault.Message, "nvmlDeviceGetMemoryInfo") {
		t.Errorf("all measures fail: %+v", got)
	}
}

func TestADeviceThatDoesNotTellProcessesApartSaysSo(t *testing.T) {
	n := onto(dgxa100.New())
	n.devices[0].running = []gonvml.ProcessInfo{{Pid: 20}}
	n.devices[0].GetProcessUtilizationFunc = func(uint64) ([]gonvml.ProcessUtilizationSample, gonvml.Return) {
		return nil, gonvml.ERROR_NOT_SUPPORTED
	}
	got := n.reader().Read(start).GPUs[0]
	if got.Fault != nil || len(got.Processes) != 1 || got.Processes[0].Known {
		t.Errorf("%+v", got)
	}
}

func TestCountersTellWhatWasBetweenTwoReadings(t *testing.T) {
	n := onto(dgxh100.New())
	d := n.devices[0]
	d.counts, d.metrics[-1] = true, [3]float64{80, 40, 20}
	d.busy = []gonvml.Sample{sample(start, 50)}
	r := n.reader()
	if first := r.Read(start).GPUs[0]; len(first.Tensor)+len(first.Bandwidth) != 0 {
		t.Errorf("one look tells %+v", first.Use)
	}
	if soon := r.Read(start.Add(100 * time.Millisecond)).GPUs[0]; len(soon.Tensor) != 0 {
		t.Errorf("two looks within 100 ms tell %+v", soon.Use)
	}
	d.busy = append(d.busy, sample(start.Add(4*time.Second), 60))
	at := start.Add(5 * time.Second)
	got := r.Read(at).GPUs[0]
	want := gpu.Use{
		Busy:      []gpu.Sample{{Time: start.Add(4 * time.Second), Ratio: 0.6}}, // finer than the counters
		Bandwidth: []gpu.Sample{{Time: at, Ratio: 0.4}},
		Tensor:    []gpu.Sample{{Time: at, Ratio: 0.2}},
	}
	got.Memory, got.Processes = gpu.Memory{}, nil
	if diff := cmp.Diff(want, got.Use, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(n.lent) != 2 {
		t.Errorf("%d buffers are out, want 2", len(n.lent))
	}
	if err := r.Close(); err != nil || len(n.lent) != 0 {
		t.Errorf("closing: %v, %d buffers out", err, len(n.lent))
	}
}

func TestALookThatFailedIsNotBridged(t *testing.T) {
	n := onto(dgxh100.New())
	d := n.devices[0]
	d.counts = true
	r := n.reader()
	r.Read(start)
	d.answer = gonvml.ERROR_TIMEOUT
	r.Read(start.Add(time.Second))
	d.answer = gonvml.SUCCESS
	if got := r.Read(start.Add(2 * time.Second)).GPUs[0]; got.Fault != nil {
		t.Errorf("it does not come back: %v", got.Fault)
	}
	if got := r.Read(start.Add(3 * time.Second)).GPUs[0]; len(got.Tensor) != 1 {
		t.Errorf("no counters after it came back: %+v", got.Use)
	}
}

// mixed is an H100 cut into 1g, 2g and 3g, and one GPU instance with two compute instances.
func mixed() *node {
	n := onto(dgxh100.New())
	d := n.devices[0]
	d.MigMode, d.counts = gonvml.DEVICE_MIG_ENABLE, true
	d.parts = []*mock.Device{
		part("MIG-a", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9, 1, 1),
		part("MIG-b", "NVIDIA H100 80GB HBM3 MIG 2g.20gb", 3, 2, 2),
		nil,
		part("MIG-c", "NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", 1, 3, 1),
		part("MIG-d", "NVIDIA H100 80GB HBM3 MIG 2c.3g.40gb", 1, 3, 2),
	}
	d.metrics = map[int][3]float64{9: {90, 50, 10}, 3: {30, 20, 15}, 1: {99, 99, 99}}
	return n
}

func TestMIG(t *testing.T) {
	n := mixed()
	r := n.reader()
	r.Read(start)
	at := start.Add(5 * time.Second)
	got := r.Read(at).GPUs[0]
	if got.Fault != nil || len(got.Busy)+len(got.Processes) != 0 {
		t.Errorf("the device itself: %+v", got)
	}
	instance := func(uuid string, id int, profile string, sevenths float64, percent ...float64) gpu.Instance {
		out := gpu.Instance{UUID: uuid, ID: id, Profile: profile, Share: sevenths / 7, Use: gpu.Use{
			Memory:    gpu.Memory{Used: 2 << 30, Total: 10 << 30},
			Processes: []gpu.Process{{PID: 1000 + id, Memory: 2 << 30}},
		}}
		for i, to := range []*[]gpu.Sample{&out.Busy, &out.Bandwidth, &out.Tensor}[:len(percent)] {
			*to = []gpu.Sample{{Time: at, Ratio: percent[i] / 100}}
		}
		return out
	}
	want := []gpu.Instance{
		instance("MIG-a", 9, "1g.10gb", 1, 90, 50, 10),
		instance("MIG-b", 3, "2g.20gb", 2, 30, 20, 15),
		// Of two in one GPU instance the counters do not tell which.
		instance("MIG-c", 1, "1c.3g.40gb", 1),
		instance("MIG-d", 1, "2c.3g.40gb", 2),
	}
	if diff := cmp.Diff(want, got.Instances, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnInstanceThatIsTakenAwayGivesItsBuffersBack(t *testing.T) {
	n := mixed()
	r := n.reader()
	r.Read(start)
	if len(n.lent) != 4 {
		t.Fatalf("%d buffers for two instances, want 4", len(n.lent))
	}
	n.devices[0].parts = slices.Delete(n.devices[0].parts, 0, 1)
	if got := r.Read(start.Add(time.Second)).GPUs[0]; len(got.Instances) != 3 || len(n.lent) != 2 {
		t.Errorf("%d instances, %d buffers, want 3 and 2", len(got.Instances), len(n.lent))
	}
}

func TestMIGBeforeHopperHasNoUse(t *testing.T) {
	n := onto(dgxa100.New())
	d := n.devices[0]
	d.MigMode = gonvml.DEVICE_MIG_ENABLE
	d.parts = []*mock.Device{part("MIG-a", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", 9, 1, 1)}
	r := n.reader()
	r.Read(start)
	got := r.Read(start.Add(time.Second)).GPUs[0]
	if got.Fault != nil || len(got.Instances) != 1 || got.Instances[0].Busy != nil ||
		got.Instances[0].Memory.Total == 0 {
		t.Errorf("%+v", got)
	}
}
