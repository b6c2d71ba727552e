package pods_test

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Two pods hold a replica each of a GPU that is time-sliced in four.
func ExampleAttribute() {
	chat := pods.Container{Namespace: "inference", Pod: "chat-0", Name: "server"}
	search := pods.Container{Namespace: "inference", Pod: "search-0", Name: "server"}

	reading := gpu.Reading{GPUs: []gpu.GPU{{UUID: "GPU-a", Use: gpu.Use{
		Busy: []gpu.Sample{{Ratio: 0.7}, {Ratio: 0.9}},
		Processes: []gpu.Process{
			{PID: 101, Busy: 0.6, Known: true},
			{PID: 201, Busy: 0.4, Known: true},
		},
	}}}}
	holdings := []pods.Holding{
		{Container: chat, Device: "GPU-a", Allocated: 0.25},
		{Container: search, Device: "GPU-a", Allocated: 0.25},
	}
	owner := func(pid int) (pods.Container, bool) {
		c, known := map[int]pods.Container{101: chat, 201: search}[pid]
		return c, known
	}

	for _, p := range pods.Attribute(reading, holdings, owner) {
		fmt.Printf("%s: busy %.2f, allocated %.2f, bandwidth told: %v\n", p.Pod, p.Busy.Value, p.Allocated,
			p.Bandwidth.Known)
	}
	// Output:
	// chat-0: busy 0.48, allocated 0.25, bandwidth told: false
	// search-0: busy 0.32, allocated 0.25, bandwidth told: false
}
