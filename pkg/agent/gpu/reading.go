// Package gpu has the readings of a node's GPUs as plain values, in shares of what a device can do, whatever library
// they come from, and windows that summarise them. A driver or a device that does not answer is part of a reading, not an
// error. The package is pure; time is an argument.
package gpu

import "time"

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
	Minor int    // the N of its device file, /dev/nvidiaN, by which some device plugins name it
	Model string // for example NVIDIA H100 80GB HBM3

	// Fault is why the device was not read: it fell off the bus, it is being reset. The rest may be empty then.
	Fault *Fault

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
	// Bandwidth of the memory in use, as a share of the maximum; before Hopper the time in which memory was read or
	// written.
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
	// Told is false and both are 0. The driver does so for time-slicing and MPS, not for MIG instances.
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
	// DriverMismatch: the library has another version than the kernel's driver, as in a container that is older than an
	// upgrade of the driver.
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

// NeedsNewContainer reports whether a fault lasts as long as this container: the driver's library was mounted when the
// container was created.
func (f *Fault) NeedsNewContainer() bool {
	return f != nil && (f.Reason == LibraryMissing || f.Reason == DriverMismatch)
}
