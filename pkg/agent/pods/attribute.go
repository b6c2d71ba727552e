package pods

import (
	"cmp"
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
	GPU string
	// Instance is the MIG GPU instance's id; empty where there is none.
	Instance string

	Busy, Bandwidth, Allocated float64
	// Told and BandwidthTold say whether Busy and Bandwidth are known. Where one is not it is 0, and no figure at all.
	Told, BandwidthTold bool
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
	busy, bandwidth := mean(d.use.Busy), mean(d.use.Bandwidth)
	var s shares
	if len(holders) > 1 {
		s = share(d.use.Processes, holders, owner)
	}
	allocated := 0.0
	for _, h := range holders {
		allocated += h.Allocated
	}
	for i, h := range holders {
		p := Part{Container: h.Container, GPU: d.gpu, Instance: d.instance}
		p.Allocated = d.share * h.Allocated / max(1, allocated)
		if len(holders) == 1 {
			p.Busy, p.Told = busy.value, busy.told
			p.Bandwidth, p.BandwidthTold = bandwidth.value, bandwidth.told
		} else {
			p.Busy, p.Told = s.of(i, busy, didBusy)
			p.Bandwidth, p.BandwidthTold = s.of(i, bandwidth, didBandwidth)
		}
		p.Busy *= d.share
		p.Bandwidth *= d.share
		parts = append(parts, p)
	}
	return parts
}

// byDevice is the holders of each device, each container once.
func byDevice(holdings []Holding) map[string][]Holding {
	sorted := slices.Clone(holdings)
	slices.SortFunc(sorted, func(a, b Holding) int {
		return cmp.Or(
			strings.Compare(a.Device, b.Device),
			a.Container.compare(b.Container),
			cmp.Compare(a.Allocated, b.Allocated),
		)
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
		return cmp.Or(a.compare(b), cmp.Compare(a.Busy, b.Busy), cmp.Compare(a.Bandwidth, b.Bandwidth),
			cmp.Compare(a.Allocated, b.Allocated))
	})
	merged := parts[:0]
	for _, p := range parts {
		if last := len(merged) - 1; last >= 0 && merged[last].compare(p) == 0 {
			merged[last] = merged[last].plus(p)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

func (p Part) compare(q Part) int {
	return cmp.Or(
		strings.Compare(p.GPU, q.GPU),
		strings.Compare(p.Instance, q.Instance),
		p.Container.compare(q.Container),
	)
}

// plus is two parts as one, known where both are.
func (p Part) plus(q Part) Part {
	p.Allocated = min(1, p.Allocated+q.Allocated)
	p.Busy, p.Told = min(1, p.Busy+q.Busy), p.Told && q.Told
	p.Bandwidth, p.BandwidthTold = min(1, p.Bandwidth+q.Bandwidth), p.BandwidthTold && q.BandwidthTold
	if !p.Told {
		p.Busy = 0
	}
	if !p.BandwidthTold {
		p.Bandwidth = 0
	}
	return p
}

func (c Container) compare(d Container) int {
	return cmp.Or(
		strings.Compare(c.Namespace, d.Namespace),
		strings.Compare(c.Pod, d.Pod),
		strings.Compare(c.Name, d.Name),
	)
}

// figure is a measure of a device that may not be known.
type figure struct {
	value float64
	told  bool
}

// mean of a reading's samples, which cover the time since the reading before evenly.
func mean(samples []gpu.Sample) figure {
	sum, n := 0.0, 0
	for _, s := range samples {
		if s.Ratio >= 0 { // not NaN
			sum += min(1, s.Ratio)
			n++
		}
	}
	if n == 0 {
		return figure{}
	}
	return figure{value: sum / float64(n), told: true}
}

// ratio is a figure as a share, 0 … 1; what is no number is none.
func ratio(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(1, max(0, x))
}
