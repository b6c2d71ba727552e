//go:build cgo

package nvml_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/nvml"
)

// start is when every story here begins.
var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// node is a mocked node whose devices do what a test says.
type node struct {
	*server.Server
	devices []*device
	// init is what nvmlInit answers; count nvmlDeviceGetCount.
	init, count gonvml.Return
	// lacks are symbols that the library does not have.
	lacks map[string]bool
	// lent are the sample buffers of the performance counters that are out, by name.
	lent   map[string]bool
	opened int
	closed int
}

// device is one GPU of it.
type device struct {
	*server.Device

	// answer is what the device says to everything but for its handle; handle to that.
	answer, handle gonvml.Return
	// busy and bandwidth are what its sample buffers hold; mig-enabled devices have none.
	busy, bandwidth []gonvml.Sample
	unit            gonvml.ValueType
	running, mps    []gonvml.ProcessInfo
	used            []gonvml.ProcessUtilizationSample
	parts           []*mock.Device
	// counts says whether it has performance counters; metrics are what they tell by the GPU instance (-1: the whole).
	counts  bool
	metrics map[int][3]float64
	// asked are the lastSeen stamps of calls to GetSamples.
	asked []uint64
}

// onto sets what the server leaves unset.
func onto(s *server.Server) *node {
	n := &node{Server: s, lacks: map[string]bool{}, lent: map[string]bool{}}
	for _, d := range s.Devices {
		if mocked, ok := d.(*server.Device); ok {
			n.devices = append(n.devices, wire(mocked))
		}
	}
	s.InitFunc = func() gonvml.Return { n.opened++; return n.init }
	s.ShutdownFunc = func() gonvml.Return { n.closed++; return gonvml.SUCCESS }
	s.DeviceGetCountFunc = func() (int, gonvml.Return) { return len(n.devices), n.count }
	s.DeviceGetHandleByIndexFunc = func(i int) (gonvml.Device, gonvml.Return) {
		return n.devices[i].Device, n.devices[i].handle
	}
	s.LookupSymbolFunc = func(name string) error {
		if n.lacks[name] {
			return fmt.Errorf("no symbol %s", name)
		}
		return nil
	}
	n.wireCounters()
	return n
}

func wire(on *server.Device) *device {
	d := &device{Device: on, unit: gonvml.VALUE_TYPE_UNSIGNED_INT, metrics: map[int][3]float64{}}
	on.GetUUIDFunc = func() (string, gonvml.Return) { return on.UUID, d.answer }
	on.GetNameFunc = func() (string, gonvml.Return) { return on.Config.Name, d.answer }
	on.GetMemoryInfo_v2Func = func() (gonvml.Memory_v2, gonvml.Return) {
		return gonvml.Memory_v2{Total: on.MemoryInfo.Total, Used: 1 << 30, Reserved: 1 << 29}, d.answer
	}
	on.GetSamplesFunc = func(kind gonvml.SamplingType, since uint64) (gonvml.ValueType, []gonvml.Sample, gonvml.Return) {
		d.asked = append(d.asked, since)
		if on.MigMode == gonvml.DEVICE_MIG_ENABLE {
			return 0, nil, gonvml.ERROR_NOT_SUPPORTED
		}
		buffer := d.busy
		if kind == gonvml.MEMORY_UTILIZATION_SAMPLES {
			buffer = d.bandwidth
		}
		return d.unit, padded(buffer, since), d.answer
	}
	on.GetProcessUtilizationFunc = func(since uint64) ([]gonvml.ProcessUtilizationSample, gonvml.Return) {
		var out []gonvml.ProcessUtilizationSample
		for _, s := range d.used {
			if s.TimeStamp > since {
				out = append(out, s)
			}
		}
		if len(out) == 0 {
			return nil, gonvml.ERROR_NOT_FOUND
		}
		return out, d.answer
	}
	on.GetComputeRunningProcessesFunc = func() ([]gonvml.ProcessInfo, gonvml.Return) { return d.running, d.answer }
	on.GetMPSComputeRunningProcessesFunc = func() ([]gonvml.ProcessInfo, gonvml.Return) { return d.mps, d.answer }
	on.GetMaxMigDeviceCountFunc = func() (int, gonvml.Return) { return 7, d.answer }
	on.GetMigDeviceHandleByIndexFunc = func(i int) (gonvml.Device, gonvml.Return) {
		if i >= len(d.parts) || d.parts[i] == nil {
			return nil, gonvml.ERROR_NOT_FOUND
		}
		return d.parts[i], gonvml.SUCCESS
	}
	return d
}

// padded is the answer of the wrapper: as long as the whole buffer, what is not new is empty.
func padded(buffer []gonvml.Sample, since uint64) []gonvml.Sample {
	out := make([]gonvml.Sample, 0, len(buffer)+3)
	for _, s := range buffer {
		if s.TimeStamp > since {
			out = append(out, s)
		}
	}
	return out[:len(buffer)+3]
}

// wireCounters sets the performance counters.
func (n *node) wireCounters() {
	of := func(d gonvml.Device) *device {
		for _, mine := range n.devices {
			if d == gonvml.Device(mine.Device) {
				return mine
			}
		}
		return nil
	}
	n.GpmQueryDeviceSupportFunc = func(d gonvml.Device) (gonvml.GpmSupport, gonvml.Return) {
		if of(d).counts {
			return gonvml.GpmSupport{IsSupportedDevice: 1}, gonvml.SUCCESS
		}
		return gonvml.GpmSupport{}, gonvml.SUCCESS
	}
	serial := 0
	n.GpmSampleAllocFunc = func() (gonvml.GpmSample, gonvml.Return) {
		serial++
		s := &buffer{name: strconv.Itoa(serial)}
		n.lent[s.name] = true
		return s, gonvml.SUCCESS
	}
	n.GpmSampleFreeFunc = func(s gonvml.GpmSample) gonvml.Return {
		delete(n.lent, look(s).name)
		return gonvml.SUCCESS
	}
	n.GpmSampleGetFunc = func(d gonvml.Device, s gonvml.GpmSample) gonvml.Return {
		look(s).metrics = of(d).metrics[-1]
		return of(d).answer
	}
	n.GpmMigSampleGetFunc = func(d gonvml.Device, id int, s gonvml.GpmSample) gonvml.Return {
		look(s).metrics = of(d).metrics[id]
		return of(d).answer
	}
	n.GpmMetricsGetFunc = func(ask *gonvml.GpmMetricsGetType) gonvml.Return {
		newer := look(ask.Sample2).metrics
		by := map[gonvml.GpmMetricId]float64{
			gonvml.GPM_METRIC_GRAPHICS_UTIL: newer[0], gonvml.GPM_METRIC_DRAM_BW_UTIL: newer[1],
			gonvml.GPM_METRIC_ANY_TENSOR_UTIL: newer[2],
		}
		for i := range ask.NumMetrics {
			value, known := by[gonvml.GpmMetricId(ask.Metrics[i].MetricId)]
			ask.Metrics[i].Value = value
			if !known {
				ask.Metrics[i].NvmlReturn = uint32(gonvml.ERROR_NOT_SUPPORTED)
			}
		}
		return gonvml.SUCCESS
	}
}

// buffer is a look at performance counters: what they would tell if it were the newer of two.
type buffer struct {
	mock.GpmSample

	name    string
	metrics [3]float64
}

// look is a sample as the mocks have it.
func look(s gonvml.GpmSample) *buffer {
	b, ok := s.(*buffer)
	if !ok {
		panic("a sample of another library")
	}
	return b
}

// reader is one on the node.
func (n *node) reader() *nvml.Reader { return nvml.New(n.Server) }

// part is a MIG instance of a device.
func part(uuid, name string, id int, gpuSlices, computeSlices uint32) *mock.Device {
	return &mock.Device{
		GetUUIDFunc:          func() (string, gonvml.Return) { return uuid, gonvml.SUCCESS },
		GetNameFunc:          func() (string, gonvml.Return) { return name, gonvml.SUCCESS },
		GetGpuInstanceIdFunc: func() (int, gonvml.Return) { return id, gonvml.SUCCESS },
		GetAttributesFunc: func() (gonvml.DeviceAttributes, gonvml.Return) {
			return gonvml.DeviceAttributes{
				GpuInstanceSliceCount: gpuSlices, ComputeInstanceSliceCount: computeSlices,
			}, gonvml.SUCCESS
		},
		GetMemoryInfo_v2Func: func() (gonvml.Memory_v2, gonvml.Return) {
			return gonvml.Memory_v2{Total: 10 << 30, Used: 2 << 30}, gonvml.SUCCESS
		},
		GetComputeRunningProcessesFunc: func() ([]gonvml.ProcessInfo, gonvml.Return) {
			return []gonvml.ProcessInfo{{Pid: uint32(1000 + id), UsedGpuMemory: 2 << 30}}, gonvml.SUCCESS
		},
		GetMPSComputeRunningProcessesFunc: func() ([]gonvml.ProcessInfo, gonvml.Return) {
			return nil, gonvml.ERROR_NOT_SUPPORTED
		},
	}
}

// sample is one of an unsigned int, as NVML gives utilisation.
func sample(at time.Time, percent uint32) gonvml.Sample {
	s := gonvml.Sample{TimeStamp: uint64(at.UnixMicro())}
	binary.NativeEndian.PutUint32(s.SampleValue[:], percent)
	return s
}

// ratios are the values of samples.
func ratios(samples []gpu.Sample) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = s.Ratio
	}
	return out
}
