package kubelet

import (
	"cmp"
	"slices"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Why a device that a container holds was left out.
const (
	// UnknownID: a GPU by its resource's name, by an id of no form that is known.
	UnknownID = "UnknownID"
	// UnknownNumber: named by a number that no GPU, or no single one, of the reading has.
	UnknownNumber = "UnknownNumber"
	// UnreadableClaim: held by a resource claim whose names do not tell the device, as MIG by NVIDIA's DRA driver.
	UnreadableClaim = "UnreadableClaim"
)

// tally is what is counted while an answer is read.
type tally struct {
	names   names
	leftOut map[string]int
	// allocatable and held are the replicas of each device; one that is not shared has none.
	allocatable, held map[string]set
	holds             map[hold]set
	// claimed is who holds a device by a resource claim, all alike.
	claimed map[string][]pods.Container
}

// set of replicas; of a whole device, the one without a name.
type set map[string]struct{}

// put a replica in the set of a device, or of a hold on one.
func put[K comparable](sets map[K]set, key K, replica string) {
	if sets[key] == nil {
		sets[key] = set{}
	}
	sets[key][replica] = struct{}{}
}

// hold is a container's hold on a device, in replicas or, where it has none, whole.
type hold struct {
	container pods.Container
	device    string
	shared    bool
}

// read makes holdings of a kubelet's answers; all is nil where it does not tell what it can allocate. The replicas of each
// device that is held are known from before, and are told for the next time: a device whose plugin is restarted, or that is
// not healthy, is held and not allocatable.
func read(
	list *podresources.ListPodResourcesResponse, all *podresources.AllocatableResourcesResponse, reading gpu.Reading,
	before map[string]set,
) (pods.Held, map[string]set) {
	t := tally{
		names: names{gpus: reading.GPUs}, leftOut: map[string]int{}, allocatable: map[string]set{},
		held: map[string]set{}, holds: map[hold]set{}, claimed: map[string][]pods.Container{},
	}
	for _, pod := range list.GetPodResources() {
		for _, c := range pod.GetContainers() {
			container := pods.Container{Namespace: pod.GetNamespace(), Pod: pod.GetName(), Name: c.GetName()}
			t.plugins(container, c.GetDevices())
			t.claims(container, c.GetDynamicResources())
		}
	}
	t.plugged(all.GetDevices())
	known, complete := t.settle(before)
	return pods.Held{Holdings: t.holdings(), LeftOut: t.leftOut, Estimated: !complete}, known
}

// plugins counts what a container holds by device plugins.
func (t *tally) plugins(container pods.Container, all []*podresources.ContainerDevices) {
	for _, devices := range all {
		for _, id := range devices.GetDeviceIds() {
			device, replica, reason := t.names.resolve(devices.GetResourceName(), id)
			switch {
			case reason != "":
				t.leftOut[reason]++
			case device != "":
				put(t.holds, hold{container, device, replica != ""}, replica)
				if replica != "" {
					put(t.held, device, replica)
				}
			}
		}
	}
}

// claims counts what a container holds by resource claims.
func (t *tally) claims(container pods.Container, all []*podresources.DynamicResource) {
	for _, claim := range all {
		for _, resource := range claim.GetClaimResources() {
			device, ours := t.names.claimed(resource)
			switch {
			case device != "" && !slices.Contains(t.claimed[device], container):
				t.claimed[device] = append(t.claimed[device], container)
			case device == "" && ours:
				t.leftOut[UnreadableClaim]++
			}
		}
	}
}

// plugged counts the replicas that can be allocated.
func (t *tally) plugged(all []*podresources.ContainerDevices) {
	for _, devices := range all {
		for _, id := range devices.GetDeviceIds() {
			if device, replica, _ := t.names.resolve(devices.GetResourceName(), id); replica != "" {
				put(t.allocatable, device, replica)
			}
		}
	}
}

// settle on the replicas of each device that is held: those that can be allocated, or could before, and those that are
// held. It returns the former, and whether they were told of every device.
func (t *tally) settle(before map[string]set) (known map[string]set, complete bool) {
	known, complete = map[string]set{}, true
	for device, held := range t.held {
		replicas, told := t.allocatable[device]
		if !told {
			replicas, told = before[device]
		}
		if !told {
			complete = false
			continue
		}
		known[device] = replicas
		for replica := range replicas {
			held[replica] = struct{}{}
		}
	}
	return known, complete
}

// holdings are the shares of what was counted.
func (t *tally) holdings() []pods.Holding {
	type holder struct {
		device    string
		container pods.Container
	}
	shares := map[holder]float64{}
	for h, replicas := range t.holds {
		share := 1.0
		if h.shared {
			share = float64(len(replicas)) / float64(count(t.held[h.device]))
		}
		shares[holder{h.device, h.container}] += share
	}
	for device, containers := range t.claimed {
		for _, c := range containers {
			shares[holder{device, c}] += 1 / float64(len(containers))
		}
	}
	all := make([]pods.Holding, 0, len(shares))
	for h, share := range shares {
		all = append(all, pods.Holding{Container: h.container, Device: h.device, Allocated: min(1, share)})
	}
	slices.SortFunc(all, func(a, b pods.Holding) int {
		return cmp.Or(strings.Compare(a.Device, b.Device), a.Container.Compare(b.Container))
	})
	return all
}
