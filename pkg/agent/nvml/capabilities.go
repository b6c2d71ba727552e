//go:build cgo

package nvml

import (
	"slices"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// capabilities are the optional functions that a driver's library has. A call of a missing function would crash the
// process.
type capabilities struct {
	memory2, mig, mps, processes, gpm bool
}

func lookUpCapabilities(library gonvml.ExtendedInterface) capabilities {
	has := func(name string) bool { return library.LookupSymbol(name) == nil }
	one := func(names ...string) bool { return slices.ContainsFunc(names, has) }
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !has(name) })
	}
	return capabilities{
		memory2: has("nvmlDeviceGetMemoryInfo_v2"),
		mig: all("nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
			"nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetAttributes_v2", "nvmlDeviceGetGpuInstanceProfileInfo"),
		mps: one("nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
			"nvmlDeviceGetMPSComputeRunningProcesses_v3"),
		processes: has("nvmlDeviceGetProcessUtilization"),
		gpm: all("nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree", "nvmlGpmSampleGet",
			"nvmlGpmMigSampleGet", "nvmlGpmMetricsGet"),
	}
}
