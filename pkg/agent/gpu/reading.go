// Package gpu has the readings of a node's GPUs as plain values, in shares of what a device can do, whatever library
// they come from, and windows that summarise them. A driver or a device that does not answer is part of a reading, not an
// error. The package is pure; time is an argument.
package gpu

import (
	"cmp"
	"slices"
	"time"
)

// Reading is one reading of a node's GPUs.
type Reading struct {
	// Time of the reading.
	Time time.Time
	// Driver is the driver's version; empty where the driver did not answer.
	Driver string
	// Fault is why no GPU can be read: a missing library, a driver that is being replaced. Nil where there is none.
	Fault *Fault
	// GPUs are the physical devices, by their index.
	GPUs []GPU
}

// GPU is a physical device.
type GPU struct {
	UUID  string // for example GPU-5f3c…
	Index int
	Minor int    // The N in the name of its device file, /dev/nvidiaN, which some device plugins use as its name.
	Model string // for example NVIDIA H100 80GB HBM3

	// Fault is why the device was not read: it fell off the bus, it is being reset. The rest may be empty then.
	Fault *Fault
	// Incomplete is why a value of a device that was read is missing; nil where none is.
	Incomplete *Fault

	Use
	// Instances are its MIG instances; a device that has some has no Use of its own.
	Instances []Instance
}

// Instance is a MIG instance: a slice of a physical device that is used like a device. Where a GPU instance has several
// compute instances, each of them is an Instance: they share the ID and the memory, and have no samples, because the
// device counts the whole GPU instance.
type Instance struct {
	UUID    string // for example MIG-1f6b…
	ID      int    // the GPU instance's
	Profile string // for example 1g.10gb
	// Share of the physical device's compute, 0 … 1: slices over the device's slices.
	Share float64

	Use
}

// Use is how busy a device or an instance was since the last reading. Ratios are of the device or the instance itself,
// 0 … 1; a measure that the device does not report has no samples. Samples are in the order of time.
type Use struct {
	// Busy: at least one kernel ran.
	Busy []Sample
	// Bandwidth of the memory in use, as a share of the maximum; before Hopper the time in which memory was accessed.
	Bandwidth []Sample
	// Tensor: the tensor pipes were active.
	Tensor []Sample

	Memory    Memory
	Processes []Process
}

// Sample is a measure's mean since the sample before it.
type Sample struct {
	Time  time.Time
	Ratio float64
}

// Memory of a device, in bytes; the zero Memory where it is not known.
type Memory struct {
	Used  uint64 `json:"usedBytes"`
	Total uint64 `json:"totalBytes"`
}

// Process is a process that had the device open since the last reading.
type Process struct {
	// PID on the node (the agent runs in the node's PID namespace).
	PID int
	// Busy and Bandwidth are its own part of the device's, 0 … 1, where the driver reports processes one by one; else
	// Known is false and both are 0. The driver does so for time-slicing and MPS, not for MIG instances.
	Busy, Bandwidth float64
	Known           bool
	// Memory that it holds, in bytes; 0 where the driver does not report it.
	Memory uint64
}

// Fault is why a GPU, or all of them, could not be read: a word for a metric's label and a sentence for people.
type Fault struct {
	// Reason is one of those below.
	Reason string `json:"reason"`
	// Message is what failed, and what to do about it.
	Message string `json:"message"`
}

const (
	// LibraryMissing: the driver's library is missing. A container gets it when it is created, not later.
	LibraryMissing = "LibraryMissing"
	// DriverNotLoaded: the kernel has no driver, as while it is being replaced.
	DriverNotLoaded = "DriverNotLoaded"
	// DriverMismatch: the library has another version than the kernel's driver, which was upgraded meanwhile.
	DriverMismatch = "DriverMismatch"
	// OffTheBus: a device no longer answers, or is no longer listed.
	OffTheBus = "OffTheBus"
	// ResetRequired: a device needs a reset.
	ResetRequired = "ResetRequired"
	// NoPermission: the driver does not answer this user or container.
	NoPermission = "NoPermission"
	// Unknown is any other error; the message has the driver's own.
	Unknown = "Unknown"
)

// NeedsNewContainer reports whether a fault lasts as long as this container, which mounts the driver's library once.
func (f *Fault) NeedsNewContainer() bool {
	return f != nil && (f.Reason == LibraryMissing || f.Reason == DriverMismatch)
}

// MaxSamples is how many samples a window keeps: six a second for half a minute are 180.
const MaxSamples = 1024

// Window is the last samples of a measure.
//
// A sample is the measure's mean since the previous sample, so each is weighted by the time that it covers: samples are
// unevenly spaced (a driver's buffer holds six a second on one model and one on another; counters are read once a
// step). A sample covers at most the allowed gap; the time before that is unknown and has no weight. The first sample
// covers as much as the second.
type Window struct {
	length, gap time.Duration
	// samples are in order of time. The first may be older than the window, because the second sample covers the time since the first.
	samples []point
}

type point struct {
	at    int64 // nanoseconds
	value float64
}

// Summary is a measure over a window, in the measure's own unit.
type Summary struct {
	// Mean over the time that is covered.
	Mean float64 `json:"mean"`
	// Max is the largest sample, which is itself a mean over its time.
	Max float64 `json:"max"`
	// P95 is the smallest value that the measure did not exceed in 95 % of the time that is covered.
	P95 float64 `json:"p95"`
	// Known is false without samples; the rest is 0 then.
	Known bool `json:"-"`
}

// IsZero leaves what is not known out of JSON.
func (s Summary) IsZero() bool { return !s.Known }

// NewWindow is an empty window of a length. No sample covers more than the gap.
func NewWindow(length, gap time.Duration) *Window { return &Window{length: length, gap: gap} }

// Add adds a sample. One that is not later than the last is dropped, unless it is earlier by more than the window: then
// the clock was set back, and the window is cleared.
func (w *Window) Add(s Sample) {
	p := point{at: s.Time.UnixNano(), value: s.Ratio}
	if n := len(w.samples); n > 0 && p.at <= w.samples[n-1].at {
		if w.samples[n-1].at-p.at <= int64(w.length) {
			return
		}
		w.samples = w.samples[:0]
	}
	if len(w.samples) == MaxSamples {
		w.samples = append(w.samples[:0], w.samples[MaxSamples/2:]...)
	}
	w.samples = append(w.samples, p)
}

// Summary summarises (now − length, now].
func (w *Window) Summary(now time.Time) Summary {
	w.trim(now)
	start := now.Add(-w.length).UnixNano()
	type part struct{ value, time float64 }
	var parts []part
	var whole, area float64
	for i, s := range w.samples {
		if s.at <= start {
			continue
		}
		covered := float64(min(w.covered(i), s.at-start))
		parts = append(parts, part{s.value, covered})
		whole += covered
		area += covered * s.value
	}
	if len(parts) == 0 {
		return Summary{}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.value, b.value) })
	out := Summary{Max: parts[len(parts)-1].value, P95: parts[len(parts)-1].value, Known: true}
	// Because of rounding, a mean may be outside the range of its values.
	out.Mean = min(max(area/whole, parts[0].value), out.Max)
	below := 0.0
	for _, p := range parts {
		if below += p.time; below >= 0.95*whole {
			out.P95 = p.value
			break
		}
	}
	return out
}

// Empty reports whether (now − length, now] has no sample, so that its Summary is not known.
func (w *Window) Empty(now time.Time) bool {
	w.trim(now)
	n := len(w.samples)
	return n == 0 || w.samples[n-1].at <= now.Add(-w.length).UnixNano()
}

// covered returns the time that a sample covers, in nanoseconds.
func (w *Window) covered(i int) int64 {
	if len(w.samples) == 1 {
		return int64(w.gap)
	}
	second := max(i, 1)
	return min(int64(w.gap), w.samples[second].at-w.samples[second-1].at)
}

// trim drops samples from the future, and all samples from before the window except the last one.
func (w *Window) trim(now time.Time) {
	start, end := now.Add(-w.length).UnixNano(), now.UnixNano()
	over := 0
	for over+1 < len(w.samples) && w.samples[over+1].at <= start {
		over++
	}
	w.samples = append(w.samples[:0], w.samples[over:]...)
	for n := len(w.samples); n > 0 && w.samples[n-1].at > end; n-- {
		w.samples = w.samples[:n-1]
	}
}
