package collect_test

import (
	"context"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// noon is the time at which tests start.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// node is Reader, Holders and Owners of a node; a test changes what its GPUs do between steps.
type node struct {
	// Fault is why nothing is read.
	Fault *gpu.Fault
	GPUs  []device
	// Held are the holdings, KubeletError the kubelet's error.
	Held         []pods.Holding
	KubeletError error
	// Owners of processes.
	Owners map[int]pods.Container

	last time.Time
}

// device has constant figures, at six samples a second.
type device struct {
	gpu.GPU

	Busy, Bandwidth, Tensor float64
	// Parts are the ratios of its instances, in their order, with one sample in each reading.
	Parts []float64
}

func (n *node) Read(now time.Time) gpu.Reading {
	defer func() { n.last = now }()
	if n.last.IsZero() {
		n.last = now.Add(-5 * time.Second)
	}
	if n.Fault != nil {
		return gpu.Reading{Time: now, Fault: n.Fault}
	}
	out := gpu.Reading{Time: now, Driver: "580.95.05"}
	for i := range n.GPUs {
		g := n.GPUs[i].GPU
		if g.Fault == nil && len(g.Instances) == 0 {
			g.Use.Busy, g.Use.Bandwidth = n.since(now, n.GPUs[i].Busy), n.since(now, n.GPUs[i].Bandwidth)
			g.Use.Tensor = []gpu.Sample{{Time: now, Ratio: n.GPUs[i].Tensor}}
		}
		instances := make([]gpu.Instance, len(g.Instances))
		for j := range g.Instances {
			instances[j] = g.Instances[j]
			one := []gpu.Sample{{Time: now, Ratio: n.GPUs[i].Parts[j]}}
			instances[j].Use.Busy, instances[j].Use.Bandwidth, instances[j].Use.Tensor = one, one, one
		}
		g.Instances = instances
		out.GPUs = append(out.GPUs, g)
	}
	return out
}

// since returns six samples a second since the last reading.
func (n *node) since(now time.Time, value float64) []gpu.Sample {
	var out []gpu.Sample
	for at := n.last.Add(time.Second / 6); !at.After(now); at = at.Add(time.Second / 6) {
		out = append(out, gpu.Sample{Time: at, Ratio: value})
	}
	return out
}

func (n *node) Holdings(context.Context, gpu.Reading) (pods.Held, error) {
	return pods.Held{Holdings: n.Held}, n.KubeletError
}

func (n *node) Lookup() func(pid int) (pods.Container, bool) {
	return func(pid int) (pods.Container, bool) {
		c, known := n.Owners[pid]
		return c, known
	}
}

// container is the container "server" of a pod in the namespace inference.
func container(pod string) pods.Container {
	return pods.Container{Namespace: "inference", Pod: pod, Name: "server"}
}

// sharedGPUs is a node of GPUs that are each shared by some processes of different pods.
func sharedGPUs(gpus, processes int) *node {
	n := &node{Owners: map[int]pods.Container{}}
	for i := range gpus {
		g := device{GPU: physical(i), Busy: 0.8, Bandwidth: 0.5, Tensor: 0.3}
		for j := range processes {
			pid, who := 1000+i*processes+j, container(fmt.Sprintf("llama-%d-%d", i, j))
			g.Processes = append(g.Processes, gpu.Process{
				PID: pid, Busy: 0.8 / float64(processes), Bandwidth: 0.5 / float64(processes), Known: true,
				Memory: 1 << 30,
			})
			n.Owners[pid] = who
			n.Held = append(n.Held, pods.Holding{Container: who, Device: g.UUID, Allocated: 1 / float64(processes)})
		}
		n.GPUs = append(n.GPUs, g)
	}
	return n
}

// migGPUs is a node of GPUs with seven MIG instances each, one for each pod.
func migGPUs(gpus int) *node {
	n := &node{Owners: map[int]pods.Container{}}
	for i := range gpus {
		g := device{GPU: physical(i)}
		for j := range 7 {
			part := gpu.Instance{
				UUID: fmt.Sprintf("MIG-%d-%d", i, j), ID: 7 + j, Profile: "1g.10gb", Share: 1. / 7,
				Use: gpu.Use{Memory: gpu.Memory{Used: 5 << 30, Total: 10 << 30}},
			}
			g.Instances, g.Parts = append(g.Instances, part), append(g.Parts, 0.7)
			who := container(fmt.Sprintf("llama-%d-%d", i, j))
			n.Held = append(n.Held, pods.Holding{Container: who, Device: part.UUID, Allocated: 1})
		}
		n.GPUs = append(n.GPUs, g)
	}
	return n
}

func physical(i int) gpu.GPU {
	return gpu.GPU{
		UUID: fmt.Sprintf("GPU-%d", i), Index: i, Model: "NVIDIA H100 80GB HBM3",
		Use: gpu.Use{Memory: gpu.Memory{Used: 60 << 30, Total: 80 << 30}},
	}
}
