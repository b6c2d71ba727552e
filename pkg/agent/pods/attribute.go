package pods

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// Part is what a container did of a physical GPU since the reading before, and what it holds of it, in shares of that
// GPU, 0 … 1: half a busy MIG instance of two sevenths is 1/7.
type Part struct {
	Container
	// GPU is the physical GPU's UUID.
	GPU string `json:"uuid"`
	// Instance is the MIG GPU instance's id; empty where there is none.
	Instance string `json:"gpuInstance,omitempty"`

	Allocated float64 `json:"allocated"`
	Busy      Figure  `json:"busy,omitzero"`
	Bandwidth Figure  `json:"memoryBandwidth,omitzero"`
}

// Figure is a measure that may not be known: the zero Figure then.
type Figure struct {
	Value float64
	Told  bool
}

// IsZero leaves what is not known out of JSON.
func (f Figure) IsZero() bool { return !f.Told }

// MarshalJSON writes the value alone.
func (f Figure) MarshalJSON() ([]byte, error) { return json.Marshal(f.Value) }

// plus is the sum, at most a whole GPU, known where both are.
func (f Figure) plus(g Figure) Figure {
	if !f.Told || !g.Told {
		return Figure{}
	}
	return Figure{Value: min(1, f.Value+g.Value), Told: true}
}

// Attribute says what each container did of the devices that it holds.
//
// A device that one container holds is that container's, whatever is known of processes. One that several hold
// (time-slicing, MPS) is split by what its processes did themselves, scaled down where they add up to more than the device
// did, as each is sampled apart: two processes at 0.6 and 0.3 of a device at 0.6 did 0.4 and 0.2. What no holder's process
// did is nobody's. A holder is idle where all that was busy is known to be someone else's, and untold where that is open.
//
// The owner says whose a process is: false where that cannot be known, the zero Container for the node's own. It is asked
// about processes of devices that several hold, once for each process and device.
//
// Parts are sorted by GPU, instance and container, one for each; their order and figures do not depend on the order of
// what was given. A MIG instance that the reading lacks has no part, as its share of a GPU is not known.
func Attribute(reading gpu.Reading, holdings []Holding, owner func(pid int) (Container, bool)) []Part {
	held := byDevice(holdings)
	parts := make([]Part, 0, len(holdings))
	for i := range reading.GPUs {
		for _, d := range devices(&reading.GPUs[i]) {
			parts = d.divide(parts, held[d.uuid], owner)
			delete(held, d.uuid)
		}
	}
	for uuid, holders := range held {
		if strings.HasPrefix(uuid, "GPU-") {
			parts = device{uuid: uuid, gpu: uuid, share: 1}.divide(parts, holders, owner)
		}
	}
	return merge(parts)
}

// device is what can be held: a GPU, or an instance of one.
type device struct {
	uuid, gpu, instance string
	// share of the physical GPU.
	share float64
	use   gpu.Use
}

// devices are a GPU and its instances. A GPU that did not answer did nothing that is known, nor does one have a use of its
// own that is cut in instances.
func devices(g *gpu.GPU) []device {
	whole := device{uuid: g.UUID, gpu: g.UUID, share: 1}
	if g.Fault == nil && len(g.Instances) == 0 {
		whole.use = g.Use
	}
	all := append(make([]device, 0, 1+len(g.Instances)), whole)
	for i := range g.Instances {
		instance := &g.Instances[i]
		d := device{uuid: instance.UUID, gpu: g.UUID, instance: strconv.Itoa(instance.ID), share: ratio(instance.Share)}
		if g.Fault == nil {
			d.use = instance.Use
		}
		all = append(all, d)
	}
	return all
}

// divide appends the parts of a device's holders.
func (d device) divide(parts []Part, holders []Holding, owner func(pid int) (Container, bool)) []Part {
	busy, bandwidth := Mean(d.use.Busy), Mean(d.use.Bandwidth)
	var s shares
	if len(holders) > 1 {
		s = share(d.use.Processes, holders, owner)
	}
	allocated := 0.0
	for _, h := range holders {
		allocated += h.Allocated
	}
	for i, h := range holders {
		p := Part{Container: h.Container, GPU: d.gpu, Instance: d.instance, Busy: busy, Bandwidth: bandwidth}
		p.Allocated = d.share * h.Allocated / max(1, allocated)
		if len(holders) > 1 {
			p.Busy, p.Bandwidth = s.of(i, busy, didBusy), s.of(i, bandwidth, didBandwidth)
		}
		p.Busy.Value *= d.share
		p.Bandwidth.Value *= d.share
		parts = append(parts, p)
	}
	return parts
}

// byDevice is the holders of each device, each container once.
func byDevice(holdings []Holding) map[string][]Holding {
	sorted := slices.Clone(holdings)
	slices.SortFunc(sorted, func(a, b Holding) int {
		return cmp.Or(strings.Compare(a.Device, b.Device), a.Container.Compare(b.Container),
			cmp.Compare(a.Allocated, b.Allocated))
	})
	held := make(map[string][]Holding)
	for _, h := range sorted {
		h.Allocated = ratio(h.Allocated)
		holders := held[h.Device]
		if last := len(holders) - 1; last >= 0 && holders[last].Container == h.Container {
			holders[last].Allocated = min(1, holders[last].Allocated+h.Allocated)
			continue
		}
		held[h.Device] = append(holders, h)
	}
	return held
}

// merge sorts parts and makes one of those with the same name: compute instances that share a GPU instance.
func merge(parts []Part) []Part {
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(a.compare(b), cmp.Compare(a.Busy.Value, b.Busy.Value),
			cmp.Compare(a.Bandwidth.Value, b.Bandwidth.Value), cmp.Compare(a.Allocated, b.Allocated))
	})
	merged := parts[:0]
	for _, p := range parts {
		if last := len(merged) - 1; last >= 0 && merged[last].compare(p) == 0 {
			one := &merged[last]
			one.Allocated = min(1, one.Allocated+p.Allocated)
			one.Busy, one.Bandwidth = one.Busy.plus(p.Busy), one.Bandwidth.plus(p.Bandwidth)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

func (p Part) compare(q Part) int {
	return cmp.Or(strings.Compare(p.GPU, q.GPU), strings.Compare(p.Instance, q.Instance),
		p.Container.Compare(q.Container))
}

// Mean of a reading's samples, which cover the time since the reading before evenly.
func Mean(samples []gpu.Sample) Figure {
	sum, n := 0.0, 0
	for _, s := range samples {
		if s.Ratio >= 0 { // not NaN
			sum += min(1, s.Ratio)
			n++
		}
	}
	if n == 0 {
		return Figure{}
	}
	return Figure{Value: sum / float64(n), Told: true}
}

// ratio is a figure as a share, 0 … 1; what is no number is none.
func ratio(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(1, max(0, x))
}
