package collect

import (
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/history"
	"github.com/forewarm/forewarm/pkg/agent/pods"
	"github.com/forewarm/forewarm/pkg/agent/window"
)

// Picture is what the agent knows after a step. Nobody changes it.
type Picture struct {
	// Time of the reading that it was made of.
	Time time.Time
	// Driver is its version; empty where it did not answer.
	Driver string
	// Fault is why no GPU was read, and Since when that began; nil where they were.
	Fault *gpu.Fault
	Since time.Time
	// PodsFault is why the kubelet did not say who holds what; nil where it did.
	PodsFault error
	// LeftOut counts the devices that containers hold and that could not be told, by why. Estimated: how many replicas a shared
	// device has is not known, so that allocated shares may be too large.
	LeftOut   map[string]int
	Estimated bool

	// GPUs in the driver's order, each followed by its MIG instances.
	GPUs []Device
	// Pods in the order of devices and names.
	Pods []Pod
	// Hour is what was before.
	Hour history.Hour
}

// Device is a GPU or a MIG instance. Its ratios are its own: 1 is a whole instance.
type Device struct {
	// UUID of the physical GPU; its Index and Model.
	UUID  string
	Index int
	Model string
	// Instance is the MIG GPU instance's id, InstanceUUID its own, Profile its name; empty for a whole GPU.
	Instance, InstanceUUID, Profile string
	// Share of the physical GPU's compute, 0 … 1.
	Share float64
	// Fault is why it was not read; nil where it was.
	Fault *gpu.Fault

	Busy, Bandwidth, Tensor window.Summary
	// Memory is that of the whole GPU instance; the zero Memory where it is not known.
	Memory gpu.Memory
}

// Pod is a container's part of a physical GPU, in shares of that GPU, as means over the window.
type Pod struct {
	pods.Container
	// UUID of the GPU; Instance is the MIG GPU instance's id, or empty.
	UUID, Instance string

	// Busy and Bandwidth are known where Told and BandwidthTold say so.
	Busy, Bandwidth     float64
	Told, BandwidthTold bool
	// Allocated is what it holds.
	Allocated float64
}

// Board is where the newest picture hangs. The zero Board is ready to use and empty.
type Board struct {
	newest atomic.Pointer[Picture]
}

// Load is the newest picture, nil before the first.
func (b *Board) Load() *Picture { return b.newest.Load() }

// Publish replaces it.
func (b *Board) Publish(p *Picture) { b.newest.Store(p) }
