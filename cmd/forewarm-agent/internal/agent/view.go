package agent

import (
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/window"
)

// viewed is a picture for programs. What is not known is left out.
type viewed struct {
	Time   time.Time    `json:"time"`
	Driver string       `json:"driver,omitempty"`
	Fault  *viewedFault `json:"fault,omitempty"`
	GPUs   []viewedGPU  `json:"gpus"`
	Pods   []viewedPod  `json:"pods"`
}

type viewedFault struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type viewedGPU struct {
	UUID         string         `json:"uuid"`
	Index        int            `json:"index"`
	Model        string         `json:"model,omitempty"`
	Instance     string         `json:"gpuInstance,omitempty"`
	InstanceUUID string         `json:"instanceUUID,omitempty"`
	Profile      string         `json:"profile,omitempty"`
	Share        float64        `json:"share"`
	Fault        *viewedFault   `json:"fault,omitempty"`
	Busy         *viewedSummary `json:"busy,omitempty"`
	Bandwidth    *viewedSummary `json:"memoryBandwidth,omitempty"`
	Tensor       *viewedSummary `json:"tensor,omitempty"`
	Memory       *viewedMemory  `json:"memory,omitempty"`
}

type viewedSummary struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	P95  float64 `json:"p95"`
}

type viewedMemory struct {
	Used  uint64 `json:"usedBytes"`
	Total uint64 `json:"totalBytes"`
}

type viewedPod struct {
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	UUID      string   `json:"uuid"`
	Instance  string   `json:"gpuInstance,omitempty"`
	Allocated float64  `json:"allocated"`
	Busy      *float64 `json:"busy,omitempty"`
	Bandwidth *float64 `json:"memoryBandwidth,omitempty"`
}

func view(p *collect.Picture) viewed {
	out := viewed{
		Time: p.Time, Driver: p.Driver, Fault: viewFault(p.Fault), GPUs: []viewedGPU{}, Pods: []viewedPod{},
	}
	for i := range p.GPUs {
		d := &p.GPUs[i]
		g := viewedGPU{
			UUID: d.UUID, Index: d.Index, Model: d.Model, Instance: d.Instance, InstanceUUID: d.InstanceUUID,
			Profile: d.Profile, Share: d.Share, Fault: viewFault(d.Fault),
			Busy: viewSummary(d.Busy), Bandwidth: viewSummary(d.Bandwidth), Tensor: viewSummary(d.Tensor),
		}
		if d.Memory.Total > 0 {
			g.Memory = &viewedMemory{Used: d.Memory.Used, Total: d.Memory.Total}
		}
		out.GPUs = append(out.GPUs, g)
	}
	for i := range p.Pods {
		pod := &p.Pods[i]
		v := viewedPod{
			Namespace: pod.Namespace, Pod: pod.Pod, Container: pod.Name, UUID: pod.UUID, Instance: pod.Instance,
			Allocated: pod.Allocated,
		}
		if pod.Told {
			v.Busy = &pod.Busy
		}
		if pod.BandwidthTold {
			v.Bandwidth = &pod.Bandwidth
		}
		out.Pods = append(out.Pods, v)
	}
	return out
}

func viewFault(f *gpu.Fault) *viewedFault {
	if f == nil {
		return nil
	}
	return &viewedFault{Reason: f.Reason, Message: f.Message}
}

func viewSummary(s window.Summary) *viewedSummary {
	if !s.Known {
		return nil
	}
	return &viewedSummary{Mean: s.Mean, Max: s.Max, P95: s.P95}
}
