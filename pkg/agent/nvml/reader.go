//go:build cgo

package nvml

import (
	"fmt"
	"slices"
	"strings"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// Reader reads the GPUs of this node. It must be used from one goroutine.
type Reader struct {
	library gonvml.Interface
	open    bool
	driver  string
	can     capabilities
	// cards has the GPUs that have answered at least once.
	cards []*card

	// degraded is true if the last reading had a fault. After the backoff, the library is reopened.
	degraded bool
	backoff  backoff
	// closed says why the library is not open.
	closed *gpu.Fault
}

// New reads through a library; gonvml.New() is the driver's own. The first Read opens it.
func New(library gonvml.Interface) *Reader { return &Reader{library: library} }

// Read reads every GPU. Samples are those since the last reading; the first reading has those that the driver still
// holds (a few seconds). now is the machine's clock, which the driver's samples use too.
func (r *Reader) Read(now time.Time) (reading gpu.Reading) {
	defer func() {
		if problem := recover(); problem != nil {
			reading = gpu.Reading{Time: now, Driver: r.driver, Fault: panicked("reading the GPUs", problem)}
			r.degraded = true
			if r.backoff.over(now) {
				r.backoff.increase(now)
			}
		}
	}()
	if r.open && r.degraded && r.backoff.over(now) {
		r.closeLibrary() //nolint:errcheck // A library that does not work fails when it is opened again.
	}
	if !r.open && r.backoff.over(now) {
		r.openLibrary()
	}
	reading = gpu.Reading{Time: now, Driver: r.driver}
	if r.open {
		reading.GPUs = r.read(now)
	}
	reading.Fault = r.closed
	r.degraded = !r.open || slices.ContainsFunc(reading.GPUs, func(g gpu.GPU) bool { return g.Fault != nil })
	switch {
	case !r.degraded:
		r.backoff = backoff{}
	case r.backoff.over(now):
		r.backoff.increase(now)
	}
	return reading
}

// Close closes the library.
func (r *Reader) Close() error {
	if !r.open {
		return nil
	}
	if answer := r.closeLibrary(); answer != gonvml.SUCCESS {
		return fmt.Errorf("nvmlShutdown: %w", answer)
	}
	return nil
}

func (r *Reader) openLibrary() {
	if answer := r.library.Init(); answer != gonvml.SUCCESS {
		r.closed = newFault("nvmlInit", answer)
		return
	}
	r.open, r.closed = true, nil
	r.can = lookUpCapabilities(r.library.Extensions())
	r.driver = ""
	if driver, answer := r.library.SystemGetDriverVersion(); answer == gonvml.SUCCESS {
		r.driver = printable(driver)
	}
}

// closeLibrary closes the library, after its buffers were freed.
func (r *Reader) closeLibrary() gonvml.Return {
	r.open = false // This comes first, so that the library is opened again even if Shutdown panics.
	for _, c := range r.cards {
		c.release(r.library)
	}
	return r.library.Shutdown()
}

// read reads the devices, one after the other.
func (r *Reader) read(now time.Time) []gpu.GPU {
	count, answer := r.library.DeviceGetCount()
	if answer != gonvml.SUCCESS {
		r.closeLibrary() //nolint:errcheck // It has to be reopened in any case.
		r.closed = newFault("nvmlDeviceGetCount", answer)
		return nil
	}
	gpus := make([]gpu.GPU, count, count+len(r.cards))
	seen := make(map[*card]bool, count)
	for i := range gpus {
		gpus[i] = r.readDevice(i, seen, now)
	}
	return r.addMissing(gpus, seen)
}

// readDevice reads one device. After a panic, only the reading of this device is missing.
func (r *Reader) readDevice(index int, seen map[*card]bool, now time.Time) (out gpu.GPU) {
	out = gpu.GPU{Index: index, Minor: -1}
	defer func() {
		if problem := recover(); problem != nil {
			out.Fault = panicked("reading the GPU", problem)
		}
	}()
	device, c, failure := r.identify(index)
	if failure != nil {
		out.Fault = failure
		return out
	}
	seen[c], out = true, c.named()
	return c.read(r.library, device, r.can, now)
}

// identify finds the card that has an index now.
//
//nolint:ireturn // NVIDIA's devices are interfaces.
func (r *Reader) identify(index int) (gonvml.Device, *card, *gpu.Fault) {
	device, answer := r.library.DeviceGetHandleByIndex(index)
	if answer != gonvml.SUCCESS {
		return nil, nil, newFault("nvmlDeviceGetHandleByIndex", answer)
	}
	uuid, answer := device.GetUUID()
	if answer != gonvml.SUCCESS {
		return nil, nil, newFault("nvmlDeviceGetUUID", answer)
	}
	uuid = printable(uuid)
	for _, c := range r.cards {
		if c.uuid == uuid {
			c.index = index
			return device, c, nil
		}
	}
	c := newCard(uuid, index)
	r.cards = append(r.cards, c)
	return device, c, nil
}

// printable makes a text from the driver valid as a label value.
func printable(text string) string { return strings.ToValidUTF8(text, "?") }

// addMissing adds the known devices that did not answer. A lost GPU may keep its index, or the others may have moved up.
func (r *Reader) addMissing(gpus []gpu.GPU, seen map[*card]bool) []gpu.GPU {
	for _, c := range r.cards {
		if !seen[c] {
			c.miss()
		}
	}
	for i := range gpus {
		if gpus[i].UUID != "" {
			continue
		}
		for _, c := range r.cards {
			if !seen[c] && c.index == i {
				known := c.named()
				known.Fault = gpus[i].Fault
				gpus[i], seen[c] = known, true
			}
		}
	}
	for _, c := range r.cards {
		if !seen[c] {
			lost := c.named()
			lost.Fault = newFault("nvmlDeviceGetCount", gonvml.ERROR_GPU_IS_LOST)
			gpus = append(gpus, lost)
		}
	}
	return gpus
}

const (
	minBackoff = 5 * time.Second
	maxBackoff = 5 * time.Minute
)

// backoff is how long the library is not reopened after a failure: five seconds at first, then twice as long each time, up to five minutes.
// The zero value is over.
type backoff struct {
	length time.Duration
	end    time.Time
}

// over reports whether to retry. If the end is further away than the longest backoff, the clock was set back.
func (p *backoff) over(now time.Time) bool {
	return !now.Before(p.end) || p.end.Sub(now) > maxBackoff
}

// increase starts the next backoff.
func (p *backoff) increase(now time.Time) {
	p.length = min(max(2*p.length, minBackoff), maxBackoff)
	p.end = now.Add(p.length)
}

// capabilities has the optional functions that a driver's library has. To call a missing one would crash the process.
type capabilities struct{ memory2, mig, mps, processes, gpm bool }

func lookUpCapabilities(library gonvml.ExtendedInterface) capabilities {
	has := func(name string) bool { return library.LookupSymbol(name) == nil }
	one := func(names ...string) bool { return slices.ContainsFunc(names, has) }
	lacks := func(name string) bool { return !has(name) }
	all := func(names ...string) bool { return !slices.ContainsFunc(names, lacks) }
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
