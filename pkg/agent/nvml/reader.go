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

// Reader reads the GPUs of this node. It is for one goroutine.
type Reader struct {
	library gonvml.Interface
	open    bool
	driver  string
	can     abilities
	// cards are the GPUs that ever answered, in the order of their indexes.
	cards []*card

	// ailing says that not all was well at the last reading; after the pause the library is opened anew.
	ailing bool
	pause  pause
	// closed is why the library is not open.
	closed *gpu.Fault
}

// New reads by a library; gonvml.New() is the driver's own. It is opened by the first Read.
func New(library gonvml.Interface) *Reader {
	return &Reader{library: library}
}

// Read looks at every GPU. Samples are those since the reading before, for the first those that the driver still has (some
// seconds). The time is that of the machine's clock, on which the driver's samples are told too.
func (r *Reader) Read(now time.Time) gpu.Reading {
	if r.open && r.ailing && r.pause.over(now) {
		r.shut() //nolint:errcheck // Whether it is well shows when it is opened again.
	}
	if !r.open && r.pause.over(now) {
		r.start()
	}
	reading := gpu.Reading{Time: now, Driver: r.driver}
	if r.open {
		reading.GPUs = r.read(now)
	}
	reading.Fault = r.closed
	r.ailing = !r.open || slices.ContainsFunc(reading.GPUs, func(g gpu.GPU) bool { return g.Fault != nil })
	switch {
	case !r.ailing:
		r.pause = pause{}
	case r.pause.over(now):
		r.pause.lengthen(now)
	}
	return reading
}

// Close gives back what the library holds.
func (r *Reader) Close() error {
	if !r.open {
		return nil
	}
	if answer := r.shut(); answer != gonvml.SUCCESS {
		return fmt.Errorf("nvmlShutdown: %w", answer)
	}
	return nil
}

// start opens the library.
func (r *Reader) start() {
	if answer := r.library.Init(); answer != gonvml.SUCCESS {
		r.closed = fault("nvmlInit", answer)
		return
	}
	r.open, r.closed = true, nil
	r.can = lookUp(r.library.Extensions())
	r.driver = ""
	if driver, answer := r.library.SystemGetDriverVersion(); answer == gonvml.SUCCESS {
		r.driver = printable(driver)
	}
}

// shut closes the library; the buffers that it lent go back first.
func (r *Reader) shut() gonvml.Return {
	for _, c := range r.cards {
		c.release(r.library)
	}
	r.open = false
	return r.library.Shutdown()
}

// read asks for the devices, one after the other.
func (r *Reader) read(now time.Time) []gpu.GPU {
	count, answer := r.library.DeviceGetCount()
	if answer != gonvml.SUCCESS {
		r.shut() //nolint:errcheck // Whatever it was, it has to be opened anew.
		r.closed = fault("nvmlDeviceGetCount", answer)
		return nil
	}
	gpus := make([]gpu.GPU, count, count+len(r.cards))
	seen := make(map[*card]bool, count)
	for i := range gpus {
		device, c, failure := r.identify(i)
		if failure != nil {
			gpus[i] = gpu.GPU{Index: i, Minor: -1, Fault: failure}
			continue
		}
		seen[c] = true
		gpus[i] = c.read(r.library, device, r.can, now)
	}
	return r.missing(gpus, seen)
}

// identify finds the card that has an index now.
//
//nolint:ireturn // Its devices are interfaces, so that there can be mocks of them.
func (r *Reader) identify(index int) (gonvml.Device, *card, *gpu.Fault) {
	device, answer := r.library.DeviceGetHandleByIndex(index)
	if answer != gonvml.SUCCESS {
		return nil, nil, fault("nvmlDeviceGetHandleByIndex", answer)
	}
	uuid, answer := device.GetUUID()
	if answer != gonvml.SUCCESS {
		return nil, nil, fault("nvmlDeviceGetUUID", answer)
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

// printable is a text of the driver's as a label's value may be.
func printable(text string) string { return strings.ToValidUTF8(text, "?") }

// missing names the devices that did not answer, as far as they are known from before: a lost GPU may keep its index or not be
// counted any more, and then others have moved up.
func (r *Reader) missing(gpus []gpu.GPU, seen map[*card]bool) []gpu.GPU {
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
				seen[c] = true
				failure := gpus[i].Fault
				gpus[i] = c.named()
				gpus[i].Fault = failure
			}
		}
	}
	for _, c := range r.cards {
		if !seen[c] {
			lost := c.named()
			lost.Fault = fault("nvmlDeviceGetCount", gonvml.ERROR_GPU_IS_LOST)
			gpus = append(gpus, lost)
		}
	}
	return gpus
}

const (
	shortest = 5 * time.Second
	longest  = 5 * time.Minute
)

// pause is how long the library is left alone after a failure: five seconds, then twice as long each time, up to five minutes.
// The zero pause is over.
type pause struct {
	length time.Duration
	end    time.Time
}

// over says whether it is time to try again. An end further away than any pause is one of a clock that was set back.
func (p *pause) over(now time.Time) bool {
	return !now.Before(p.end) || p.end.Sub(now) > longest
}

// lengthen begins the next one.
func (p *pause) lengthen(now time.Time) {
	p.length = min(max(2*p.length, shortest), longest)
	p.end = now.Add(p.length)
}
