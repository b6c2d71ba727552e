package pods_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

var (
	llama   = pods.Container{Namespace: "inference", Pod: "llama-0", Name: "server-vllm"}
	sidecar = pods.Container{Namespace: "inference", Pod: "llama-0", Name: "sidecar"}
	embed   = pods.Container{Namespace: "inference", Pod: "embed.v2-0", Name: "server"}
	trainer = pods.Container{Namespace: "research", Pod: "trainer", Name: "main"}
	unowned = pods.Container{}
)

// whose answers whose a process is from a table; a process that is not in it cannot be known.
func whose(table map[int]pods.Container) func(int) (pods.Container, bool) {
	return func(pid int) (pods.Container, bool) {
		c, known := table[pid]
		return c, known
	}
}

func samples(ratios ...float64) []gpu.Sample {
	all := make([]gpu.Sample, len(ratios))
	for i, r := range ratios {
		all[i].Ratio = r
	}
	return all
}

func use(busy, bandwidth float64, processes ...gpu.Process) gpu.Use {
	return gpu.Use{Busy: samples(busy), Bandwidth: samples(bandwidth), Processes: processes}
}

func process(pid int, busy, bandwidth float64) gpu.Process {
	return gpu.Process{PID: pid, Busy: busy, Bandwidth: bandwidth, Known: true}
}

func one(u gpu.Use) gpu.Reading {
	return gpu.Reading{GPUs: []gpu.GPU{{UUID: "GPU-a", Use: u}}}
}

func hold(device string, allocated float64, containers ...pods.Container) []pods.Holding {
	all := make([]pods.Holding, len(containers))
	for i, c := range containers {
		all[i] = pods.Holding{Container: c, Device: device, Allocated: allocated}
	}
	return all
}

func told(c pods.Container, busy, bandwidth, allocated float64) pods.Part {
	return pods.Part{
		Container: c, GPU: "GPU-a", Allocated: allocated,
		Busy: pods.Figure{Value: busy, Known: true}, Bandwidth: pods.Figure{Value: bandwidth, Known: true},
	}
}

func untold(c pods.Container, allocated float64) pods.Part {
	return pods.Part{Container: c, GPU: "GPU-a", Allocated: allocated}
}

func TestAttributeSharing(t *testing.T) {
	two := hold("GPU-a", 0.25, llama, embed)
	known := whose(map[int]pods.Container{1: llama, 2: embed, 3: unowned, 4: trainer, 11: llama})
	try := func(name string, holdings []pods.Holding, u gpu.Use, want ...pods.Part) {
		owner := known
		if len(holdings) == 1 && holdings[0].Device != "" {
			owner = nil // It is not asked.
		}
		got := pods.Attribute(one(u), holdings, owner)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	try("a device with one holder is that holder's, no matter whose processes ran on it", hold("GPU-a", 1, llama),
		use(0.5, 0.25, process(3, 0.4, 0.2)), told(llama, 0.5, 0.25, 1))
	try("and without any process that is known", hold("GPU-a", 1, llama), use(0.5, 0.25), told(llama, 0.5, 0.25, 1))
	try("busy is the mean of its samples, and a bandwidth without samples is no bandwidth", hold("GPU-a", 1, llama),
		gpu.Use{Busy: samples(0.2, 0.6)},
		pods.Part{Container: llama, GPU: "GPU-a", Busy: pods.Figure{Value: 0.4, Known: true}, Allocated: 1})
	try("two holders did what their processes did", two,
		use(0.9, 0.5, process(1, 0.5, 0.125), process(2, 0.25, 0.25)),
		told(embed, 0.25, 0.25, 0.25), told(llama, 0.5, 0.125, 0.25))
	try("processes that were sampled apart add up to no more than the device", two,
		use(0.6, 0.3, process(1, 0.6, 0.4), process(2, 0.3, 0.2)),
		told(embed, 0.2, 0.1, 0.25), told(llama, 0.4, 0.2, 0.25))
	try("several processes of a container are one part", two,
		use(0.9, 0.5, process(1, 0.25, 0.25), process(11, 0.25, 0.125), process(2, 0.25, 0.125)),
		told(embed, 0.25, 0.125, 0.25), told(llama, 0.5, 0.375, 0.25))
	try("a holder with an idle process is idle, and so is one without a process while another did all",
		hold("GPU-a", 0.25, llama, embed, trainer), use(0.5, 0.25, process(1, 0.5, 0.25), process(2, 0, 0)),
		told(embed, 0, 0, 0.25), told(llama, 0.5, 0.25, 0.25), told(trainer, 0, 0, 0.25))
	try("idle processes are idle where a device's figure is finer than theirs", two,
		use(0.004, 0.25, process(1, 0, 0.25), process(2, 0, 0)), told(embed, 0, 0, 0.25), told(llama, 0, 0.25, 0.25))
	try("a process of the node takes its part and is no one's", two,
		use(0.8, 0.8, process(1, 0.4, 0.4), process(3, 1.2, 1.2)),
		told(embed, 0, 0, 0.25), told(llama, 0.8*0.4/1.4, 0.8*0.4/1.4, 0.25))
	try("so does one of a pod that holds nothing", two, use(0.8, 0.8, process(1, 0.4, 0.4), process(4, 0.4, 0.4)),
		told(embed, 0, 0, 0.25), told(llama, 0.4, 0.4, 0.25))
	try(
		"a process that nothing is known of is no one's, but it may have worked for a holder that seems idle",
		two,
		use(
			0.8,
			0.8,
			process(1, 0.25, 0.25),
			process(99, 0.5, 0.5),
		),
		untold(embed, 0.25),
		told(llama, 0.25, 0.25, 0.25),
	)
	try("one that did nothing did nothing for anyone", two, use(0.8, 0.8, process(1, 0.25, 0.25), process(99, 0, 0)),
		told(embed, 0, 0, 0.25), told(llama, 0.25, 0.25, 0.25))
	try("in another PID namespace no one is told", two, use(0.8, 0.8, process(98, 0.3, 0.3), process(99, 0.5, 0.5)),
		untold(embed, 0.25), untold(llama, 0.25))
	try("without processes no one is told", two, use(0.8, 0.8), untold(embed, 0.25), untold(llama, 0.25))
	try("a driver that does not tell processes apart tells no one", two,
		use(0.8, 0.8, gpu.Process{PID: 1}, gpu.Process{PID: 2}), untold(embed, 0.25), untold(llama, 0.25))
	try("an idle device is idle for all, whatever is known of processes", two, use(0, 0, gpu.Process{PID: 99}),
		told(embed, 0, 0, 0.25), told(llama, 0, 0, 0.25))
	try("a device that says nothing of itself has parts that are allocated and no more", two,
		gpu.Use{Processes: []gpu.Process{process(1, 0.5, 0.5)}}, untold(embed, 0.25), untold(llama, 0.25))
	try("two containers of a pod stay two", hold("GPU-a", 0.5, sidecar, llama),
		use(0.9, 0.5, process(1, 0.5, 0.125), process(2, 0.25, 0.25)),
		told(llama, 0.5, 0.125, 0.5), told(sidecar, 0, 0, 0.5))
	try("a container with two replicas of a device holds them as one, and alone", hold("GPU-a", 0.25, llama, llama),
		use(0.9, 0.5), told(llama, 0.9, 0.5, 0.5))
	whole := hold("GPU-a", 1, llama, embed)
	try("of two pods that are listed for a whole device, one has ended: that without a process", whole,
		use(0.5, 0.25, process(1, 0.5, 0.25)), told(llama, 0.5, 0.25, 1))
	try(
		"so it is the current one's whole, no matter whose processes ran on it and whatever they did",
		whole,
		use(
			0.5,
			0.25,
			process(2, 0, 0),
			process(3, 0.25, 0.1),
			process(4, 0.1, 0),
			process(99, 0.1, 0),
		),
		told(embed, 0.5, 0.25, 1),
	)
	try(
		"and where the driver does not tell processes apart",
		whole,
		use(0.8, 0.8, gpu.Process{PID: 2}),
		told(embed, 0.8, 0.8, 1),
	)
	try("and on an idle device", whole, use(0, 0, process(1, 0, 0)), told(llama, 0, 0, 1))
	try("of three pods, two have ended", hold("GPU-a", 1, llama, embed, trainer), use(0.5, 0.25, process(4, 0.5, 0.25)),
		told(trainer, 0.5, 0.25, 1))
	try(
		"the containers of one pod hold a whole device together, with a process or without",
		hold("GPU-a", 1, llama, sidecar),
		use(0.5, 0.25, process(1, 0.5, 0.25)),
		told(llama, 0.5, 0.25, 0.5),
		told(sidecar, 0, 0, 0.5),
	)
	try("and no less after another pod has ended", hold("GPU-a", 1, llama, sidecar, embed),
		use(0.5, 0.25, process(1, 0.5, 0.25)), told(llama, 0.5, 0.25, 0.5), told(sidecar, 0, 0, 0.5))
	try(
		"a whole device is there once, where both have a process",
		whole,
		use(
			0.6,
			0.25,
			process(1, 0.4, 0.125),
			process(2, 0.2, 0.125),
		),
		told(embed, 0.2, 0.125, 0.5),
		told(llama, 0.4, 0.125, 0.5),
	)
	try(
		"and where no process is of either",
		whole,
		use(0.5, 0.25, process(3, 0.5, 0.25)),
		told(embed, 0, 0, 0.5),
		told(llama, 0, 0, 0.5),
	)
	try("a replica without a process may be of a pod that is idle", two, use(0.5, 0.25, process(1, 0.5, 0.25)),
		told(embed, 0, 0, 0.25), told(llama, 0.5, 0.25, 0.25))
	adrift := hold("", 0, embed, llama)
	try("a container with a share of an unknown GPU holds the GPU that its processes are on", adrift,
		use(0.5, 0.25, process(1, 0.5, 0.25)), told(llama, 0.5, 0.25, 0))
	try("alone too it did what its processes did", adrift[1:],
		use(0.5, 0.25, process(1, 0.1, 0), process(3, 0.4, 0.25)), told(llama, 0.1, 0, 0))
	try("two of them did what their processes did", adrift,
		use(0.9, 0.5, process(1, 0.5, 0.125), process(2, 0.25, 0.25)),
		told(embed, 0.25, 0.25, 0), told(llama, 0.5, 0.125, 0))
	try("one that holds the GPU by another name as well holds it once", append(hold("GPU-a", 0.5, llama), adrift...),
		use(0.5, 0.25, process(1, 0.5, 0.25)), told(llama, 0.5, 0.25, 0.5))
	try("a device that no one holds is no one's", nil, use(0.9, 0.5, process(1, 0.9, 0.5)))
}

func TestAttributeInstances(t *testing.T) {
	t.Parallel()
	reading := gpu.Reading{GPUs: []gpu.GPU{{
		UUID: "GPU-a",
		Use:  use(0.9, 0.9), // a device with instances has no use of its own, whatever it says
		Instances: []gpu.Instance{
			{UUID: "MIG-1", ID: 1, Share: 2.0 / 7, Use: use(0.5, 0.25)},
			{UUID: "MIG-2", ID: 2, Share: 1.0 / 7, Use: use(1, 0.5, gpu.Process{PID: 1}, gpu.Process{PID: 2})},
			{UUID: "MIG-5a", ID: 5, Share: 1.0 / 7, Use: use(0.7, 0)},
			{UUID: "MIG-5b", ID: 5, Share: 1.0 / 7, Use: use(0, 0.7)},
		},
	}}}
	holdings := slices.Concat(hold("MIG-1", 1, llama), hold("MIG-2", 0.5, llama, embed), hold("MIG-5a", 1, trainer),
		hold("MIG-5b", 1, trainer), hold("GPU-a", 1, sidecar), hold("MIG-gone", 1, trainer))
	instance := func(p pods.Part, id string) pods.Part {
		p.Instance = id
		return p
	}
	want := []pods.Part{
		untold(sidecar, 1),
		instance(told(llama, 1.0/7, 0.5/7, 2.0/7), "1"),
		instance(untold(embed, 0.5/7), "2"),
		instance(untold(llama, 0.5/7), "2"),
		instance(told(trainer, 0.1, 0.1, 2.0/7), "5"), // two compute instances of one GPU instance are one series
	}
	got := pods.Attribute(reading, holdings, whose(map[int]pods.Container{1: llama, 2: embed}))
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestAttributeFaults(t *testing.T) {
	t.Parallel()
	reading := gpu.Reading{GPUs: []gpu.GPU{
		{UUID: "GPU-a", Fault: &gpu.Fault{Reason: "ResetRequired"}, Use: use(0.5, 0.5)},
	}}
	want := []pods.Part{untold(llama, 1), {Container: embed, GPU: "GPU-gone", Allocated: 1}}
	got := pods.Attribute(reading, append(hold("GPU-gone", 1, embed), hold("GPU-a", 1, llama)...), whose(nil))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is held is held, though the device does not answer or is gone:\n%s", diff)
	}
}
