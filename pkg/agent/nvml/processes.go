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

// listProcesses lists the processes that have a device open, with the use of each since the last reading.
func (c *card) listProcesses(l *deviceReading) []gpu.Process {
	out := l.runningProcesses(l.device)
	if !l.can.processes || l.fault != nil {
		return out
	}
	const name = "nvmlDeviceGetProcessUtilization"
	since := c.processes.since(l.now)
	raw, answer := protect(l, name, func() ([]gonvml.ProcessUtilizationSample, gonvml.Return) {
		return l.device.GetProcessUtilization(since)
	})
	if answer == gonvml.ERROR_NOT_FOUND || (answer == gonvml.ERROR_INSUFFICIENT_SIZE && len(raw) == 0) {
		// No process did anything. NVIDIA's wrapper reports an empty buffer as too small.
		raw, answer = nil, gonvml.SUCCESS
	}
	if !l.succeeded(name, answer) {
		return out
	}
	used, newest := processUse(raw, since, l.now)
	if newest == since {
		// The driver reports the use since a given time, so the next call must not begin at the same time again.
		newest = microseconds(l.now)
	}
	c.processes = lastSeen(newest)
	return mergeProcesses(out, used)
}

// runningProcesses returns the processes with a context on a device or an instance, including those under MPS.
func (l *deviceReading) runningProcesses(device gonvml.Device) []gpu.Process {
	if l.fault != nil {
		return nil
	}
	open, _ := call(l, "nvmlDeviceGetComputeRunningProcesses", device.GetComputeRunningProcesses)
	if l.can.mps && l.fault == nil {
		under, _ := call(l, "nvmlDeviceGetMPSComputeRunningProcesses", device.GetMPSComputeRunningProcesses)
		open = append(open, under...)
	}
	out := make([]gpu.Process, 0, len(open))
	for _, p := range open {
		process := gpu.Process{PID: int(p.Pid)}
		// The driver sets all bits if it does not know the value.
		if p.UsedGpuMemory != math.MaxUint64 {
			process.Memory = p.UsedGpuMemory
		}
		out = append(out, process)
	}
	slices.SortStableFunc(out, byPID)
	return slices.CompactFunc(out, func(a, b gpu.Process) bool { return a.PID == b.PID })
}

// processUse returns each process's mean over the driver's samples, by PID, and the time of the newest sample. The driver keeps a few
// samples for each process, from the times in which the process was active.
func processUse(raw []gonvml.ProcessUtilizationSample, since uint64, now time.Time) (map[int]gpu.Process, uint64) {
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

// mergeProcesses merges the running processes with the processes that were active, some of which have ended.
func mergeProcesses(there []gpu.Process, used map[int]gpu.Process) []gpu.Process {
	for i := range there {
		of := used[there[i].PID]
		there[i].Busy, there[i].Bandwidth, there[i].Known = of.Busy, of.Bandwidth, true
		delete(used, there[i].PID)
	}
	for _, over := range used {
		over.Known = true
		there = append(there, over)
	}
	slices.SortFunc(there, byPID)
	return there
}

func byPID(a, b gpu.Process) int { return cmp.Compare(a.PID, b.PID) }
