//go:build cgo

package nvml_test

import (
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// From the driver's answers to the pods' parts: two pods share a GPU by time-slicing, one of them with two processes.
func TestAReadingIsDividedAmongPods(t *testing.T) {
	n := onto(dgxa100.New())
	d := n.devices[0]
	stamp := uint64(start.UnixMicro())
	d.busy, d.bandwidth = []gonvml.Sample{sample(start, 60)}, []gonvml.Sample{sample(start, 40)}
	d.running = []gonvml.ProcessInfo{{Pid: 1}, {Pid: 2}, {Pid: 3}}
	d.used = []gonvml.ProcessUtilizationSample{
		{Pid: 1, TimeStamp: stamp, SmUtil: 30, MemUtil: 20},
		{Pid: 2, TimeStamp: stamp, SmUtil: 15, MemUtil: 10},
		{Pid: 3, TimeStamp: stamp, SmUtil: 45, MemUtil: 10},
	}
	llama, embed := pods.Container{Namespace: "ai", Pod: "llama"}, pods.Container{Namespace: "ai", Pod: "embed"}
	owners := map[int]pods.Container{1: llama, 2: llama, 3: embed}
	got := pods.Attribute(n.reader().Read(start), []pods.Holding{
		{Container: llama, Device: d.UUID, Allocated: 0.5}, {Container: embed, Device: d.UUID, Allocated: 0.5},
	}, func(pid int) (pods.Container, bool) { c, known := owners[pid]; return c, known })
	part := func(of pods.Container, busy, bandwidth float64) pods.Part {
		return pods.Part{
			Container: of, GPU: d.UUID, Allocated: 0.5,
			Busy: pods.Figure{Value: busy, Known: true}, Bandwidth: pods.Figure{Value: bandwidth, Known: true},
		}
	}
	// The processes add up to 0.9 of a device that was busy 0.6 of the time.
	if diff := cmp.Diff([]pods.Part{part(embed, 0.3, 0.1), part(llama, 0.3, 0.3)}, got, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Likewise by MIG: an instance is its pod's, by its share of the GPU.
func TestAReadingOfInstancesIsDividedAmongPods(t *testing.T) {
	n := mixed()
	r := n.reader()
	r.Read(start)
	llama := pods.Container{Namespace: "ai", Pod: "llama"}
	got := pods.Attribute(r.Read(start.Add(time.Second)),
		[]pods.Holding{{Container: llama, Device: "MIG-b", Allocated: 1}}, nil)
	want := []pods.Part{{
		Container: llama, GPU: n.devices[0].UUID, Instance: "3", Allocated: 2. / 7,
		Busy: pods.Figure{Value: 0.3 * 2 / 7, Known: true}, Bandwidth: pods.Figure{Value: 0.2 * 2 / 7, Known: true},
	}}
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
