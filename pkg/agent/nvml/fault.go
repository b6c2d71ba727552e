//go:build cgo

package nvml

import (
	"fmt"
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// isFatal reports whether an answer of a function means that the device or the driver is gone.
func isFatal(answer gonvml.Return) bool {
	return slices.Contains([]gonvml.Return{
		gonvml.ERROR_GPU_IS_LOST, gonvml.ERROR_RESET_REQUIRED, gonvml.ERROR_UNINITIALIZED,
		gonvml.ERROR_DRIVER_NOT_LOADED, gonvml.ERROR_LIB_RM_VERSION_MISMATCH,
	}, answer)
}

// isUnavailable reports whether an answer only means that a measure does not exist, or has no new value. The device works.
func isUnavailable(answer gonvml.Return) bool {
	return slices.Contains([]gonvml.Return{
		gonvml.ERROR_NOT_SUPPORTED, gonvml.ERROR_NOT_FOUND, gonvml.ERROR_NO_DATA, gonvml.ERROR_NO_PERMISSION,
		gonvml.ERROR_INSUFFICIENT_SIZE, gonvml.ERROR_FUNCTION_NOT_FOUND, gonvml.ERROR_ARGUMENT_VERSION_MISMATCH,
		gonvml.ERROR_DEPRECATED,
	}, answer)
}

// newFault describes the answer of a call, with advice.
func newFault(call string, answer gonvml.Return) *gpu.Fault {
	reason, advice := gpu.Unknown, "the agent keeps retrying"
	switch answer {
	case gonvml.ERROR_LIBRARY_NOT_FOUND:
		reason, advice = gpu.LibraryMissing, "libnvidia-ml.so.1 cannot be loaded: install the NVIDIA driver on the node; "+
			"a container also needs the NVIDIA runtime (runtimeClassName: nvidia) and NVIDIA_DRIVER_CAPABILITIES=utility"
	case gonvml.ERROR_DRIVER_NOT_LOADED, gonvml.ERROR_UNINITIALIZED:
		reason, advice = gpu.DriverNotLoaded, "the NVIDIA driver is not loaded in the kernel, or this container has none of its "+
			"device files; the agent keeps retrying"
	case gonvml.ERROR_LIB_RM_VERSION_MISMATCH:
		reason, advice = gpu.DriverMismatch, "the driver was replaced while this process was running: restart the container to load "+
			"the library of the new driver"
	case gonvml.ERROR_GPU_IS_LOST:
		reason, advice = gpu.OffTheBus, "find the Xid error in the node's kernel log, then reset the GPU or reboot the node"
	case gonvml.ERROR_RESET_REQUIRED:
		reason, advice = gpu.ResetRequired, "drain the node, then run nvidia-smi --gpu-reset"
	case gonvml.ERROR_NO_PERMISSION:
		reason, advice = gpu.NoPermission, "the driver refuses access to this user or container: grant access to the GPU's device files"
	default:
	}
	return &gpu.Fault{Reason: reason, Message: fmt.Sprintf("%s: %v: %s", call, answer, advice)}
}

// deviceReading is one reading of one device. The first serious error ends it.
type deviceReading struct {
	library gonvml.Interface
	device  gonvml.Device
	can     capabilities
	now     time.Time

	fault *gpu.Fault
	// minor is a failure of a single measure, which is not a failure of the device. If there was a panic, it is the panic; otherwise it is the
	// first failure.
	minor *gpu.Fault
}

// succeeded reports whether a call succeeded, and records its fault.
func (l *deviceReading) succeeded(call string, answer gonvml.Return) bool {
	switch {
	case answer == gonvml.SUCCESS:
	case isFatal(answer) && l.fault == nil:
		l.fault = newFault(call, answer)
	case !isUnavailable(answer) && l.minor == nil:
		l.minor = newFault(call, answer)
	}
	return answer == gonvml.SUCCESS && l.fault == nil
}

// call calls a function of the library, and reports whether it succeeded. After a failure, only this value of this reading is missing.
func call[T any](l *deviceReading, name string, function func() (T, gonvml.Return)) (T, bool) {
	value, answer := protect(l, name, function)
	return value, l.succeeded(name, answer)
}

// done is call for a function that returns no value.
func done(l *deviceReading, name string, function func() gonvml.Return) bool {
	_, ok := call(l, name, func() (struct{}, gonvml.Return) { return struct{}{}, function() })
	return ok
}

// protect calls a function of the library. A panic in NVIDIA's bindings counts as an unknown error. go-nvml v0.13.4-0 slices the buffer of
// GetProcessUtilization past its end if another process starts between its two calls of the driver. It also trusts the driver's numbers in
// other places.
func protect[T any](l *deviceReading, name string, function func() (T, gonvml.Return)) (value T, answer gonvml.Return) {
	defer func() {
		if problem := recover(); problem != nil {
			var none T
			value, answer, l.minor = none, gonvml.ERROR_UNKNOWN, panicked(name, problem)
		}
	}()
	return function()
}

// panicked describes a panic. A crash in the C library itself cannot be recovered.
func panicked(name string, problem any) *gpu.Fault {
	const text = "%s: panic: %v: the value is missing in this reading, and the agent will read it again in the next one; " +
		"if this happens again, report it as a bug, with the version of the driver"
	return &gpu.Fault{Reason: gpu.Unknown, Message: fmt.Sprintf(text, name, problem)}
}

// finalFault returns the device's fault. It is the fault that ended the reading or, if nothing could be read, the first failure.
func (l *deviceReading) finalFault(g *gpu.GPU) *gpu.Fault {
	if l.fault == nil && len(g.Busy) == 0 && len(g.Instances) == 0 && g.Memory.Total == 0 {
		return l.minor
	}
	return l.fault
}
