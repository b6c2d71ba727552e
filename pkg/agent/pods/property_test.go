package pods_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// node is any node: devices of every kind, held and used in every way, with figures that no driver should give.
type node struct {
	reading  gpu.Reading
	holdings []pods.Holding
	owners   map[int]pods.Container
}

// odd are the figures that a broken driver may give.
var odd = []float64{0, 0, 1, 1, math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, math.MaxFloat64, 5e-324}

func anyNode(rng *rand.Rand) node {
	containers := []pods.Container{llama, sidecar, embed, trainer, unowned}
	figure := func() float64 {
		if rng.IntN(8) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return rng.Float64()
	}
	n := node{owners: map[int]pods.Container{}}
	for pid := range 12 {
		if rng.IntN(3) > 0 {
			n.owners[pid] = containers[rng.IntN(len(containers))]
		}
	}
	anyUse := func() gpu.Use {
		var u gpu.Use
		for range rng.IntN(4) {
			u.Busy = append(u.Busy, gpu.Sample{Ratio: figure()})
			u.Bandwidth = append(u.Bandwidth, gpu.Sample{Ratio: figure()})
		}
		for range rng.IntN(6) {
			u.Processes = append(u.Processes, gpu.Process{
				PID: rng.IntN(12), Busy: figure(), Bandwidth: figure(), Known: rng.IntN(8) > 0,
			})
		}
		return u
	}
	devices := []string{"GPU-gone", "MIG-gone", ""}
	for i := range 1 + rng.IntN(3) {
		g := gpu.GPU{UUID: "GPU-" + string(rune('a'+i)), Use: anyUse()}
		devices = append(devices, g.UUID)
		for j := range rng.IntN(3) {
			id := "MIG-" + string(rune('a'+i)) + string(rune('a'+j))
			g.Instances = append(g.Instances, gpu.Instance{UUID: id, ID: j / 2, Share: figure() / 2, Use: anyUse()})
			devices = append(devices, id)
		}
		n.reading.GPUs = append(n.reading.GPUs, g)
	}
	for range rng.IntN(10) {
		n.holdings = append(n.holdings, pods.Holding{
			Container: containers[rng.IntN(len(containers)-1)],
			Device:    devices[rng.IntN(len(devices))],
			Allocated: figure(),
		})
	}
	return n
}

func (n node) parts() []pods.Part {
	return pods.Attribute(n.reading, n.holdings, whose(n.owners))
}

// shuffled is the same node, told in another order; samples are a sequence, and stay one.
func (n node) shuffled(rng *rand.Rand) node {
	m := node{owners: n.owners, holdings: slices.Clone(n.holdings)}
	rng.Shuffle(len(m.holdings), func(i, j int) { m.holdings[i], m.holdings[j] = m.holdings[j], m.holdings[i] })
	for _, g := range n.reading.GPUs {
		g.Processes = shuffle(rng, g.Processes)
		g.Instances = shuffle(rng, g.Instances)
		for i := range g.Instances {
			g.Instances[i].Processes = shuffle(rng, g.Instances[i].Processes)
		}
		m.reading.GPUs = append(m.reading.GPUs, g)
	}
	m.reading.GPUs = shuffle(rng, m.reading.GPUs)
	return m
}

func shuffle[T any](rng *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// own is what a device did itself, by a measure: the plain mean of the samples that are ratios.
func own(samples []gpu.Sample) float64 {
	sum, n := 0.0, 0.0
	for _, s := range samples {
		if !math.IsNaN(s.Ratio) && s.Ratio >= 0 {
			sum += math.Min(s.Ratio, 1)
			n++
		}
	}
	return sum / math.Max(n, 1)
}

func checkParts(t *testing.T, n node) {
	t.Helper()
	type total struct{ busy, bandwidth, allocated float64 }
	totals, seen := map[string]total{}, map[string]bool{}
	for _, p := range n.parts() {
		for _, x := range []float64{p.Busy.Value, p.Bandwidth.Value, p.Allocated} {
			if !(x >= 0 && x <= 1) {
				t.Errorf("%+v: %v is no share of a GPU", p, x)
			}
		}
		if (!p.Busy.Known && p.Busy.Value != 0) || (!p.Bandwidth.Known && p.Bandwidth.Value != 0) {
			t.Errorf("%+v: a figure that is not told", p)
		}
		series := p.GPU + " " + p.Instance + " " + p.Namespace + "/" + p.Pod + "/" + p.Name
		if seen[series] {
			t.Errorf("two parts are called %s", series)
		}
		seen[series] = true
		device := p.GPU + " " + p.Instance
		x := totals[device]
		totals[device] = total{x.busy + p.Busy.Value, x.bandwidth + p.Bandwidth.Value, x.allocated + p.Allocated}
	}
	for _, g := range n.reading.GPUs {
		if len(g.Instances) > 0 {
			continue
		}
		busy, bandwidth := own(g.Busy), own(g.Bandwidth)
		if x := totals[g.UUID+" "]; x.busy > busy+1e-12 || x.bandwidth > bandwidth+1e-12 || x.allocated > 1+1e-12 {
			t.Errorf("%s did %v and %v, its parts are %+v", g.UUID, busy, bandwidth, x)
		}
	}
}

func TestAttributeLaws(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	some := 0
	for range 20000 {
		n := anyNode(rng)
		checkParts(t, n)
		for _, p := range n.parts() {
			if p.Busy.Value > 0 {
				some++
			}
		}
		if diff := cmp.Diff(n.parts(), n.shuffled(rng).parts()); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
	}
	if some < 10000 {
		t.Errorf("%d parts with a figure: the laws were hardly tried", some)
	}
}

// TestAttributeConserves: what is told of holders and what is known to be no one's make up what the processes did.
func TestAttributeConserves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 2))
	for range 2000 {
		a, b, stranger := rng.Float64()+0.01, rng.Float64()+0.01, rng.Float64()
		device := rng.Float64()
		u := use(device, device, process(1, a, b), process(2, b, a), process(3, stranger, stranger))
		n := node{one(u), hold("GPU-a", 0.5, llama, embed), map[int]pods.Container{1: llama, 2: embed, 3: unowned}}
		sum := 0.0
		for _, p := range n.parts() {
			sum += p.Busy.Value
		}
		all := min(a, 1) + min(b, 1) + stranger
		want := (all - stranger) * min(1, device/all)
		if math.Abs(sum-want) > 1e-12 {
			t.Fatalf("%v, %v and a stranger's %v of a device at %v: the parts are %v, want %v", a, b, stranger,
				device, sum, want)
		}
	}
}

func FuzzAttribute(f *testing.F) {
	f.Add(0.5, 0.25, 0.3, 0.2, 0.5, true)
	f.Add(math.NaN(), math.Inf(1), -1.0, 1e308, math.NaN(), false)
	f.Fuzz(func(t *testing.T, busy, bandwidth, first, second, allocated float64, known bool) {
		u := use(busy, bandwidth, process(1, first, second), process(2, second, first))
		n := node{one(u), hold("GPU-a", allocated, llama, embed), map[int]pods.Container{1: llama}}
		if known {
			n.owners[2] = embed
		}
		checkParts(t, n)
	})
}
