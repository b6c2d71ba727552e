package collect

import (
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Picture is the agent's state after a step. It is immutable. Its JSON is for programs and leaves out unknown values.
type Picture struct {
	// Time of the reading.
	Time time.Time `json:"time"`
	// Driver is the driver's version; empty where it did not answer.
	Driver string `json:"driver,omitempty"`
	// Fault is why no GPU was read, and Since the time it began; nil where GPUs were read.
	Fault *gpu.Fault `json:"fault,omitempty"`
	Since time.Time  `json:"-"`
	// KubeletError is the kubelet's error; nil where it answered. Held is its last answer.
	KubeletError error     `json:"-"`
	Held         pods.Held `json:"-"`

	// GPUs in the driver's order, each followed by its MIG instances.
	GPUs []Device `json:"gpus"`
	// Pods in the order of devices and names. Their figures are means over the window.
	Pods []pods.Part `json:"pods"`
	// Hour is the
	Hour Hour `json:"-"`
}

// Device is a GPU or a MIG instance. Its ratios are its own: 1 is a whole instance.
type Device struct {
	// UUID of the physical GPU; its Index and Model.
	UUID  string `json:"uuid"`
	Index int    `json:"index"`
	Model string `json:"model,omitempty"`
	// Instance is the MIG GPU instance's id, InstanceUUID its own, Profile its name; empty for a whole GPU.
	Instance     string `json:"gpuInstance,omitempty"`
	InstanceUUID string `json:"instanceUUID,omitempty"`
	Profile      string `json:"profile,omitempty"`
	// Share of the physical GPU's compute, 0 … 1.
	Share float64 `json:"share"`
	// Fault is why the device was not read; nil where it was.
	Fault *gpu.Fault `json:"fault,omitempty"`

	Busy      gpu.Summary `json:"busy,omitzero"`
	Bandwidth gpu.Summary `json:"memoryBandwidth,omitzero"`
	Tensor    gpu.Summary `json:"tensor,omitzero"`
	// Memory of the whole GPU or GPU instance.
	Memory gpu.Memory `json:"memory,omitzero"`
}

// Board holds the newest picture; nil before the first.
type Board = atomic.Pointer[Picture]
