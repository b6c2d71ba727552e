//go:build cgo

package nvml

import (
	"fmt"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// serious says whether an answer, whatever was asked, means that the device or the whole driver is gone.
func serious(answer gonvml.Return) bool {
	switch answer {
	case gonvml.ERROR_GPU_IS_LOST,
		gonvml.ERROR_RESET_REQUIRED,
		gonvml.ERROR_UNINITIALIZED,
		gonvml.ERROR_DRIVER_NOT_LOADED,
		gonvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return true
	default:
		return false
	}
}

// absent says whether an answer means only that there is no such measure, or nothing new of it: the device is well.
func absent(answer gonvml.Return) bool {
	switch answer {
	case gonvml.ERROR_NOT_SUPPORTED, gonvml.ERROR_NOT_FOUND, gonvml.ERROR_NO_DATA, gonvml.ERROR_NO_PERMISSION,
		gonvml.ERROR_INSUFFICIENT_SIZE, gonvml.ERROR_FUNCTION_NOT_FOUND, gonvml.ERROR_ARGUMENT_VERSION_MISMATCH,
		gonvml.ERROR_DEPRECATED:
		return true
	default:
		return false
	}
}

// fault puts an answer into words; call is what was asked.
func fault(call string, answer gonvml.Return) *gpu.Fault {
	reason, advice := gpu.Unknown, "it is tried again"
	switch answer {
	case gonvml.ERROR_LIBRARY_NOT_FOUND:
		reason, advice = gpu.LibraryMissing, "libnvidia-ml.so.1 cannot be loaded: the node needs NVIDIA's driver, "+
			"a container also NVIDIA's runtime (runtimeClassName: nvidia) and NVIDIA_DRIVER_CAPABILITIES=utility"
	case gonvml.ERROR_DRIVER_NOT_LOADED, gonvml.ERROR_UNINITIALIZED:
		reason, advice = gpu.DriverNotLoaded, "the kernel has no NVIDIA driver now, or this container none of its "+
			"device files; it is tried again"
	case gonvml.ERROR_LIB_RM_VERSION_MISMATCH:
		reason, advice = gpu.DriverMismatch, "the driver was replaced under this process; a new container gets its library"
	case gonvml.ERROR_GPU_IS_LOST:
		reason, advice = gpu.OffTheBus, "the node's kernel log has its Xid; a GPU that is lost needs a reset or a reboot"
	case gonvml.ERROR_RESET_REQUIRED:
		reason, advice = gpu.ResetRequired, "drain the node, then nvidia-smi --gpu-reset"
	case gonvml.ERROR_NO_PERMISSION:
		reason, advice = gpu.NoPermission, "the driver refuses this user or container"
	default:
	}
	return &gpu.Fault{Reason: reason, Message: fmt.Sprintf("%s: %v: %s", call, answer, advice)}
}

// look is one reading of one device. The first answer that is serious ends it.
type look struct {
	library gonvml.Interface
	device  gonvml.Device
	can     abilities
	now     time.Time

	fault *gpu.Fault
	// odd is the first failure of a measure that says nothing of the device.
	odd *gpu.Fault
}

// took says whether an answer brought what was asked for.
func (l *look) took(call string, answer gonvml.Return) bool {
	switch {
	case answer == gonvml.SUCCESS:
	case serious(answer) && l.fault == nil:
		l.fault = fault(call, answer)
	case !absent(answer) && l.odd == nil:
		l.odd = fault(call, answer)
	}
	return answer == gonvml.SUCCESS && l.fault == nil
}

// verdict is what is wrong with a device: what ended the look, or what failed where nothing at all could be read.
func (l *look) verdict(g *gpu.GPU) *gpu.Fault {
	if l.fault == nil && len(g.Busy) == 0 && len(g.Instances) == 0 && g.Memory.Total == 0 {
		return l.odd
	}
	return l.fault
}
