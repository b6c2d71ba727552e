// Package pods attributes the use of GPUs to pods. It reads only the node: the kubelet's pod-resources socket (which
// pod holds which GPU), the processes' cgroups and the names of the pods' log folders (which pod a process belongs to).
// It calls no API server and holds no token.
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

// Part is how much of a physical GPU a container used since the last reading, and how much it holds, in shares of
// that GPU, 0 … 1: half of a busy MIG instance of two sevenths is 1/7.
type Part struct {
	Container
	// GPU is the physical GPU's UUID.
	GPU string `json:"uuid"`
	// Instance is the MIG GPU instance's id; empty where there is none.
	Instance string `json:"gpuInstance,omitempty"`

	// Allocated is 0 where it is not known.
	Allocated float64 `json:"allocated"`
	Busy      Figure  `json:"busy,omitzero"`
	Bandwidth Figure  `json:"memoryBandwidth,omitzero"`
}

// Figure is a measure that may be unknown; the zero Figure is.
type Figure struct {
	Value float64
	Known bool
}

// IsZero omits an unknown Figure from JSON.
func (f Figure) IsZero() bool { return !f.Known }

// MarshalJSON writes the value alone.
func (f Figure) MarshalJSON() ([]byte, error) { return json.Marshal(f.Value) }

// plus returns the sum, at most a whole GPU. It is known if both figures are known.
func (f Figure) plus(g Figure) Figure {
	if !f.Known || !g.Known {
		return Figure{}
	}
	return Figure{Value: min(1, f.Value+g.Value), Known: true}
}

// Attribute splits the use of devices among the containers that hold them.
//
// A device that one container holds is attributed to it whole, whatever is known of its processes. A device that
// several hold (time-slicing, MPS) is split by its processes' own figures. They are scaled down where their sum exceeds
// the device's figure, because each is sampled on its own: two processes at 0.6 and 0.3 of a device at 0.6 get 0.4 and
// 0.2. The use of processes that belong to no holder is attributed to none. A holder is idle where all use is known to
// be someone else's, and unknown where that is open.
//
// The kubelet gives a whole device to one pod at a time. Where it lists several pods for one, the others have ended: it may list completed
// pods until their objects are deleted. The pod that has a process on the device is the current one, and the others have no part.
//
// owner returns the container of a process: false where it cannot be known, the zero Container for a process of the
// node itself. It is called where several containers hold a device, or a container holds an unknown one.
//
// Parts are sorted by GPU, instance and container, one for each; they do not depend on the order of the arguments. A
// MIG instance that the reading lacks has no part, because its share of a GPU is not known.
func Attribute(reading gpu.Reading, holdings []Holding, owner func(pid int) (Container, bool)) []Part {
	held := byDevice(holdings)
	adrift := held[""]
	delete(held, "")
	parts := make([]Part, 0, len(holdings))
	for i := range reading.GPUs {
		for _, d := range devices(&reading.GPUs[i]) {
			holders := withoutEnded(held[d.uuid], d.use.Processes, owner)
			parts = d.divide(parts, found(holders, adrift, d.use.Processes, owner), owner)
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

// device is a GPU or a MIG instance.
type device struct {
	uuid, gpu, instance string
	// share is its share of the physical GPU.
	share float64
	use   gpu.Use
}

// devices returns a GPU and its instances. The use of a GPU that did not answer is unknown, and a GPU with instances has no use of its own.
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
	shared := len(holders) > 1 || len(holders) == 1 && holders[0].Device == ""
	if shared {
		s = shareByHolder(d.use.Processes, holders, owner)
	}
	allocated := 0.0
	for _, h := range holders {
		allocated += h.Allocated
	}
	for i, h := range holders {
		p := Part{Container: h.Container, GPU: d.gpu, Instance: d.instance, Busy: busy, Bandwidth: bandwidth}
		p.Allocated = d.share * h.Allocated / max(1, allocated)
		if shared {
			p.Busy, p.Bandwidth = s.figure(i, busy, didBusy), s.figure(i, bandwidth, didBandwidth)
		}
		p.Busy.Value *= d.share
		p.Bandwidth.Value *= d.share
		parts = append(parts, p)
	}
	return parts
}

// withoutEnded drops the holders of a whole device whose pods have ended. If one of the pods that hold the whole device has a process on
// it, the pods without a process have ended. If no pod has a process, it is not known which pod is the current one.
func withoutEnded(holders []Holding, processes []gpu.Process, owner func(pid int) (Container, bool)) []Holding {
	type pod struct{ namespace, name string }
	podOf := func(c Container) pod { return pod{c.Namespace, c.Pod} }
	works := map[pod]bool{} // The pods that hold the whole device, and whether they have a process on it.
	for _, h := range holders {
		if h.Allocated == 1 {
			works[podOf(h.Container)] = false
		}
	}
	if len(works) < 2 {
		return holders
	}
	current := false
	for _, p := range processes {
		if c, known := owner(p.PID); known {
			if _, holds := works[podOf(c)]; holds {
				works[podOf(c)], current = true, true
			}
		}
	}
	if !current {
		return holders
	}
	ended := func(h Holding) bool { return h.Allocated == 1 && !works[podOf(h.Container)] }
	return slices.DeleteFunc(slices.Clone(holders), ended)
}

// found adds to a device's holders the holders of unknown devices that have a process on this device, in order.
func found(holders, adrift []Holding, processes []gpu.Process, owner func(pid int) (Container, bool)) []Holding {
	if len(adrift) == 0 {
		return holders
	}
	here := map[Container]bool{}
	for _, p := range processes {
		if c, known := owner(p.PID); known {
			here[c] = true
		}
	}
	all := slices.Clone(holders)
	for _, h := range adrift {
		same := func(o Holding) bool { return o.Container == h.Container }
		if here[h.Container] && !slices.ContainsFunc(holders, same) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b Holding) int { return a.Container.Compare(b.Container) })
	return all
}

// byDevice groups holdings by device, with each container once.
func byDevice(holdings []Holding) map[string][]Holding {
	sorted := slices.SortedFunc(slices.Values(holdings), func(a, b Holding) int {
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

// merge sorts parts, and merges parts with the same key, which are compute instances that share a GPU instance.
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

// Mean of a reading's samples, which cover the time since the last reading evenly.
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
	return Figure{Value: sum / float64(n), Known: true}
}

// ratio clamps a figure to 0 … 1; NaN becomes 0.
func ratio(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(1, max(0, x))
}

// Container is a pod's container.
type Container struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Name      string `json:"container"`
}

// Compare orders containers by their names.
func (c Container) Compare(d Container) int {
	return cmp.Or(strings.Compare(c.Namespace, d.Namespace), strings.Compare(c.Pod, d.Pod),
		strings.Compare(c.Name, d.Name))
}

// Holding is the allocation of a device, or of a share of it, to a container.
type Holding struct {
	Container Container
	// Device is the UUID of a GPU or of a MIG instance. It is empty where the container has a share of a GPU that is not
	// known: it holds each GPU that has a process of it.
	Device string
	// Allocated is the share of the device that the container holds, 0 … 1: 1 for a whole one, 1/n for one of n
	// time-slicing or MPS replicas; 0 where it is not known.
	Allocated float64
}

// Held has the holdings of a node, as far as the kubelet's answer can be read.
type Held struct {
	// Holdings are sorted by device and container, one for each.
	Holdings []Holding
	// Unidentified counts the devices that containers hold and that could not be identified, by reason.
	Unidentified map[string]int
	// Estimated is true where the kubelet has never reported the number of a shared device's replicas, so that it was
	// derived from the replicas that are held and their numbers. The true shares may be smaller.
	Estimated bool
}
