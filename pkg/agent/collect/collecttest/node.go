// Package collecttest has a node that is none: its GPUs do what a test says. It is for tests alone.
package collecttest

import (
	"context"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

var (
	_ collect.Reader  = (*Node)(nil)
	_ collect.Holders = (*Node)(nil)
	_ collect.Owners  = (*Node)(nil)
)

// Start is when the stories begin.
func Start() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// Node is a Reader, Holders and Owners. Its GPUs are what a reading is made of; change them between steps.
type Node struct {
	// Driver's version, and why nothing is read.
	Driver string
	Fault  *gpu.Fault
	GPUs   []GPU
	// Held is who holds what, PodsFault why nobody says so.
	Held      []pods.Holding
	PodsFault error
	// Owners of processes.
	Owners map[int]pods.Container

	last time.Time
}

// GPU does the same all the time: its samples come six a second.
type GPU struct {
	gpu.GPU

	Busy, Bandwidth, Tensor float64
	// Parts are those of its instances, in their order, once a reading.
	Parts []float64
}

// Read implements collect.Reader.
func (n *Node) Read(now time.Time) gpu.Reading {
	defer func() { n.last = now }()
	if n.last.IsZero() {
		n.last = now.Add(-5 * time.Second)
	}
	if n.Fault != nil {
		return gpu.Reading{Time: now, Fault: n.Fault}
	}
	out := gpu.Reading{Time: now, Driver: n.Driver}
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

// since is six samples a second.
func (n *Node) since(now time.Time, value float64) []gpu.Sample {
	var out []gpu.Sample
	for at := n.last.Add(time.Second / 6); !at.After(now); at = at.Add(time.Second / 6) {
		out = append(out, gpu.Sample{Time: at, Ratio: value})
	}
	return out
}

// Holdings implements collect.Holders.
func (n *Node) Holdings(context.Context, gpu.Reading) (pods.Held, error) {
	return pods.Held{Holdings: n.Held}, n.PodsFault
}

// Look implements collect.Owners.
func (n *Node) Look() func(pid int) (pods.Container, bool) {
	return func(pid int) (pods.Container, bool) {
		c, known := n.Owners[pid]
		return c, known
	}
}

// Container is one of the namespace inference.
func Container(pod string) pods.Container {
	return pods.Container{Namespace: "inference", Pod: pod, Name: "server"}
}

// Whole is a node of GPUs that some processes share each, every one of another pod.
func Whole(gpus, processes int) *Node {
	n := &Node{Driver: "580.95.05", Owners: map[int]pods.Container{}}
	for i := range gpus {
		g := GPU{GPU: physical(i), Busy: 0.8, Bandwidth: 0.5, Tensor: 0.3}
		for j := range processes {
			pid, who := 1000+i*processes+j, Container(fmt.Sprintf("llama-%d-%d", i, j))
			g.Processes = append(g.Processes, gpu.Process{
				PID: pid, Busy: 0.8 / float64(processes), Bandwidth: 0.5 / float64(processes), Told: true,
				Memory: 1 << 30,
			})
			n.Owners[pid] = who
			n.Held = append(n.Held, pods.Holding{Container: who, Device: g.UUID, Allocated: 1 / float64(processes)})
		}
		n.GPUs = append(n.GPUs, g)
	}
	return n
}

// Cut is a node of GPUs that are cut into seven instances each, every one a pod's.
func Cut(gpus int) *Node {
	n := &Node{Driver: "580.95.05", Owners: map[int]pods.Container{}}
	for i := range gpus {
		g := GPU{GPU: physical(i)}
		for j := range 7 {
			part := gpu.Instance{
				UUID: fmt.Sprintf("MIG-%d-%d", i, j), ID: 7 + j, Profile: "1g.10gb", Share: 1. / 7,
				Use: gpu.Use{Memory: gpu.Memory{Used: 5 << 30, Total: 10 << 30}},
			}
			g.Instances, g.Parts = append(g.Instances, part), append(g.Parts, 0.7)
			who := Container(fmt.Sprintf("llama-%d-%d", i, j))
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
