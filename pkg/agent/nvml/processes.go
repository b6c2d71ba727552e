//go:build cgo

package nvml

import (
	"cmp"
	"math"
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// process lists the processes that have a device open, with what each of them did since the reading before.
func (c *card) process(l *look) []gpu.Process {
	out := l.running(l.device)
	if !l.can.processes || l.fault != nil {
		return out
	}
	since := c.processes.from(l.now)
	raw, answer := l.device.GetProcessUtilization(since)
	if answer == gonvml.ERROR_NOT_FOUND || (answer == gonvml.ERROR_INSUFFICIENT_SIZE && len(raw) == 0) {
		// Nobody did anything: a buffer of no entries is too small for the wrapper.
		raw, answer = nil, gonvml.SUCCESS
	}
	if !l.took("nvmlDeviceGetProcessUtilization", answer) {
		return out
	}
	used, newest := usage(raw, since, l.now)
	if newest == since {
		// The driver tells the use since the time it is given: a quiet time is not to be told again.
		newest = microseconds(l.now)
	}
	c.processes = lastSeen(newest)
	return tell(out, used)
}

// running are the processes with a context on a device or an instance, those under MPS too.
func (l *look) running(device gonvml.Device) []gpu.Process {
	if l.fault != nil {
		return nil
	}
	open, answer := device.GetComputeRunningProcesses()
	l.took("nvmlDeviceGetComputeRunningProcesses", answer)
	if l.can.mps && l.fault == nil {
		under, answer := device.GetMPSComputeRunningProcesses()
		l.took("nvmlDeviceGetMPSComputeRunningProcesses", answer)
		open = append(open, under...)
	}
	out := make([]gpu.Process, 0, len(open))
	for _, p := range open {
		process := gpu.Process{PID: int(p.Pid)}
		// The driver writes all ones where it does not know.
		if p.UsedGpuMemory != math.MaxUint64 {
			process.Memory = p.UsedGpuMemory
		}
		out = append(out, process)
	}
	slices.SortStableFunc(out, byPID)
	return slices.CompactFunc(out, func(a, b gpu.Process) bool { return a.PID == b.PID })
}

// usage is each process's mean over the driver's samples of it, by PID, and where to go on. The driver keeps one sample or a
// few for each process, of the times in which it did something.
func usage(raw []gonvml.ProcessUtilizationSample, since uint64, now time.Time) (map[int]gpu.Process, uint64) {
	type sum struct{ busy, bandwidth, n float64 }
	sums, newest := map[int]sum{}, since
	for _, s := range raw {
		busy, isBusy := ratio(float64(s.SmUtil))
		bandwidth, isBandwidth := ratio(float64(s.MemUtil))
		if s.Pid == 0 || !isBusy || !isBandwidth || !isNew(s.TimeStamp, since, now) {
			continue
		}
		newest = max(newest, s.TimeStamp)
		before := sums[int(s.Pid)]
		sums[int(s.Pid)] = sum{before.busy + busy, before.bandwidth + bandwidth, before.n + 1}
	}
	out := make(map[int]gpu.Process, len(sums))
	for pid, s := range sums {
		out[pid] = gpu.Process{PID: pid, Busy: s.busy / s.n, Bandwidth: s.bandwidth / s.n}
	}
	return out, newest
}

// tell joins the processes that are there with the use of those that did something; some of the latter are over by now.
func tell(there []gpu.Process, used map[int]gpu.Process) []gpu.Process {
	for i := range there {
		of := used[there[i].PID]
		there[i].Busy, there[i].Bandwidth, there[i].Told = of.Busy, of.Bandwidth, true
		delete(used, there[i].PID)
	}
	for _, over := range used {
		over.Told = true
		there = append(there, over)
	}
	slices.SortFunc(there, byPID)
	return there
}

func byPID(a, b gpu.Process) int { return cmp.Compare(a.PID, b.PID) }
