package pods

import (
	"cmp"
	"slices"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// Reasons why a device that a container holds is not identified.
const (
	// UnknownID: the resource is a GPU by its name, but the form of the device's id is unknown.
	UnknownID = "UnknownID"
	// UnknownNumber: no GPU of the reading, or more than one, has the number of the device's id.
	UnknownNumber = "UnknownNumber"
	// ChosenByExtender: a scheduler extender (HAMi, vCUDA) chose the GPU of a container, and the kubelet does not know which.
	// It is counted once for each container, whose use is told by its processes.
	ChosenByExtender = "ChosenByExtender"
	// UnreadableClaim: the names in a resource claim do not identify the device, as with MIG by NVIDIA's DRA driver.
	UnreadableClaim = "UnreadableClaim"
)

// tally counts devices and replicas while an answer is read.
type tally struct {
	names        deviceNames
	unidentified map[string]int
	// allocatable and held have the replicas of each device. A device that is not shared has none.
	allocatable, held map[string]set
	holds             map[hold]set
	// claimed has the containers that hold a device through a resource claim, in equal shares.
	claimed map[claim][]Container
}

// claim is a device of a resource claim. The containers of one claim share the device equally. Two claims for the same device do not share
// it.
type claim struct{ device, namespace, name string }

// set is a set of replicas. A whole device has a single replica without a name.
type set map[string]struct{}

// addReplica adds a replica to the set of a key.
func addReplica[K comparable](sets map[K]set, key K, replica string) {
	if sets[key] == nil {
		sets[key] = set{}
	}
	sets[key][replica] = struct{}{}
}

// hold is a container's hold on a device: on some of its replicas or, if the device is not shared, on the whole device.
type hold struct {
	container Container
	device    string
	shared    bool
}

// readAnswers converts a kubelet's answers to holdings. all is nil if the kubelet does not report what it can allocate. before has the
// replicas of each held device from the last call, and the result has those for the next call. This is needed because a device that is
// unhealthy, or whose plugin is restarting, is held but not allocatable.
func readAnswers(
	list *podresources.ListPodResourcesResponse, all *podresources.AllocatableResourcesResponse, reading gpu.Reading,
	before map[string]set,
) (Held, map[string]set) {
	t := tally{
		names: namesOf(reading.GPUs), unidentified: map[string]int{}, allocatable: map[string]set{},
		held: map[string]set{}, holds: map[hold]set{}, claimed: map[claim][]Container{},
	}
	for _, pod := range list.GetPodResources() {
		for _, c := range pod.GetContainers() {
			container := Container{Namespace: pod.GetNamespace(), Pod: pod.GetName(), Name: c.GetName()}
			t.plugins(container, c.GetDevices())
			t.claims(container, c.GetDynamicResources())
		}
	}
	t.allocatableReplicas(all.GetDevices())
	known, complete := t.resolveReplicas(before)
	return Held{Holdings: t.holdings(), Unidentified: t.unidentified, Estimated: !complete}, known
}

// plugins counts the devices that a container holds through device plugins.
func (t *tally) plugins(container Container, all []*podresources.ContainerDevices) {
	for _, devices := range all {
		for _, id := range devices.GetDeviceIds() {
			device, replica, reason := t.names.resolve(devices.GetResourceName(), id)
			switch {
			case reason == ChosenByExtender:
				addReplica(t.holds, hold{container: container}, "")
			case reason != "":
				t.unidentified[reason]++
			case device != "":
				addReplica(t.holds, hold{container, device, replica != ""}, replica)
				if replica != "" {
					addReplica(t.held, device, replica)
				}
			}
		}
	}
}

// claims counts the devices that a container holds through resource claims.
func (t *tally) claims(container Container, all []*podresources.DynamicResource) {
	for _, r := range all {
		for _, resource := range r.GetClaimResources() {
			device, ours := t.names.claimed(resource)
			key := claim{device, r.GetClaimNamespace(), r.GetClaimName()}
			switch {
			case device != "" && !slices.Contains(t.claimed[key], container):
				t.claimed[key] = append(t.claimed[key], container)
			case device == "" && ours:
				t.unidentified[UnreadableClaim]++
			}
		}
	}
}

// allocatableReplicas counts the replicas that can be allocated.
func (t *tally) allocatableReplicas(all []*podresources.ContainerDevices) {
	for _, devices := range all {
		for _, id := range devices.GetDeviceIds() {
			if device, replica, _ := t.names.resolve(devices.GetResourceName(), id); replica != "" {
				addReplica(t.allocatable, device, replica)
			}
		}
	}
}

// resolveReplicas adds to the held replicas of each device the replicas that can be allocated now or could be allocated before. It returns
// the latter, and whether they are known for every device.
func (t *tally) resolveReplicas(before map[string]set) (known map[string]set, complete bool) {
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

// holdings converts the counts into shares.
func (t *tally) holdings() []Holding {
	type holder struct {
		device    string
		container Container
	}
	shares := map[holder]float64{}
	for h, replicas := range t.holds {
		share := 1.0
		if h.device == "" {
			t.unidentified[ChosenByExtender]++
			share = 0
		}
		if h.shared {
			share = float64(len(replicas)) / float64(countReplicas(t.held[h.device]))
		}
		shares[holder{h.device, h.container}] += share
	}
	for key, containers := range t.claimed {
		for _, c := range containers {
			shares[holder{key.device, c}] += 1 / float64(len(containers))
		}
	}
	all := make([]Holding, 0, len(shares))
	for h, share := range shares {
		all = append(all, Holding{Container: h.container, Device: h.device, Allocated: min(1, share)})
	}
	slices.SortFunc(all, func(a, b Holding) int {
		return cmp.Or(strings.Compare(a.Device, b.Device), a.Container.Compare(b.Container))
	})
	return all
}
