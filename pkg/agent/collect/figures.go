package collect

import (
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// devices returns the figures of all GPUs and their instances.
func (c *Collector) devices(reading gpu.Reading) []Device {
	out := []Device{}
	for i := range reading.GPUs {
		g := &reading.GPUs[i]
		d := Device{UUID: g.UUID, Index: g.Index, Model: g.Model, Share: 1, Fault: g.Fault}
		out = append(out, c.figures(d, &g.Use, reading.Time))
		seen := map[int]int{}
		for j := range g.Instances {
			part := &g.Instances[j]
			if at, found := seen[part.ID]; found {
				// This is another compute instance of the same GPU instance, which has no counters of its own.
				out[at].Share += part.Share
				continue
			}
			seen[part.ID] = len(out)
			d.Instance, d.InstanceUUID = strconv.Itoa(part.ID), part.UUID
			d.Profile, d.Share = part.Profile, part.Share
			out = append(out, c.figures(d, &part.Use, reading.Time))
		}
	}
	return out
}

// figures adds a device's samples to its windows and its history.
func (c *Collector) figures(d Device, use *gpu.Use, now time.Time) Device {
	d.Memory = use.Memory
	if d.UUID == "" { // A GPU that never answered has no UUID to keep samples under.
		return d
	}
	of := func(m Measure) Series { return Series{Measure: m, UUID: d.UUID, Instance: d.Instance} }
	d.Busy = c.summary(now, of(Busy), use.Busy)
	d.Bandwidth = c.summary(now, of(Bandwidth), use.Bandwidth)
	d.Tensor = c.summary(now, of(Tensor), use.Tensor)
	return d
}

// pods returns the figures of all pods that hold a device now, over the window, because a pod may have no sample in one step.
func (c *Collector) pods(parts []pods.Part, now time.Time) []pods.Part {
	for i := range parts {
		part := &parts[i]
		of := func(m Measure) Series {
			return Series{
				Measure: m, UUID: part.GPU, Instance: part.Instance,
				Namespace: part.Namespace, Pod: part.Pod, Container: part.Name,
			}
		}
		mean := func(m Measure, f pods.Figure) pods.Figure {
			var samples []gpu.Sample
			if f.Known {
				samples = []gpu.Sample{{Time: now, Ratio: f.Value}}
			}
			summary := c.summary(now, of(m), samples)
			return pods.Figure{Value: summary.Mean, Known: summary.Known}
		}
		part.Busy, part.Bandwidth = mean(PodBusy, part.Busy), mean(PodBandwidth, part.Bandwidth)
		if part.Allocated > 0 {
			c.recorder.Add(now, of(PodAllocated), part.Allocated)
		}
	}
	return parts
}

// summary adds a series' samples to its window, adds their mean to its history, and summarizes the window up to now.
func (c *Collector) summary(now time.Time, s Series, samples []gpu.Sample) gpu.Summary {
	if mean := pods.Mean(samples); mean.Known {
		c.recorder.Add(now, s, mean.Value)
	}
	window, found := c.windows[s]
	if !found {
		if len(samples) == 0 {
			return gpu.Summary{}
		}
		window = gpu.NewWindow(c.config.Window, 2*c.config.Interval)
		c.windows[s] = window
	}
	for _, sample := range samples {
		window.Add(sample)
	}
	return window.Summary(now)
}

// capPods limits the sum of a device's pods to the device's own figure. Each reading satisfies this limit. However, a device's mean is over
// its samples and a pod's mean is over readings, so over a window they may differ by a percent. For example, pods at 0.31 and 0.30 on a
// device at 0.6 are scaled to 0.305 and 0.295.
func capPods(p *Picture) {
	type device struct{ uuid, instance string }
	type sum struct{ busy, bandwidth float64 }
	did := map[device]sum{}
	for _, pod := range p.Pods {
		at := device{pod.GPU, pod.Instance}
		did[at] = sum{did[at].busy + pod.Busy.Value, did[at].bandwidth + pod.Bandwidth.Value}
	}
	most := map[device]sum{}
	for _, d := range p.GPUs {
		at := device{d.UUID, d.Instance}
		most[at] = sum{capFactor(d.Busy, d.Share, did[at].busy), capFactor(d.Bandwidth, d.Share, did[at].bandwidth)}
	}
	for i := range p.Pods {
		pod := &p.Pods[i]
		if by, found := most[device{pod.GPU, pod.Instance}]; found {
			pod.Busy.Value *= by.busy
			pod.Bandwidth.Value *= by.bandwidth
		}
	}
}

// capFactor returns the factor that reduces the pods' sum to the device's share of its GPU. It is 1 if the sum is not above the share, or
// if the share is not known.
func capFactor(device gpu.Summary, share, sum float64) float64 {
	if did := device.Mean * share; device.Known && sum > did {
		return did / sum
	}
	return 1
}
