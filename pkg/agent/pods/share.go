package pods

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// Measures of a process.
const (
	didBusy = iota
	didBandwidth
	measures
)

// work is the sum of the figures of some processes.
type work [measures]float64

func (w *work) add(p gpu.Process) {
	w[didBusy] += ratio(p.Busy)
	w[didBandwidth] += ratio(p.Bandwidth)
}

// shares has the work of a device's processes, by holder.
type shares struct {
	holders []work
	// seen says which holders have a process, and untold says which have a process that the driver does not measure.
	seen, untold []bool
	// all is the work of all processes, including processes without a holder.
	all work
	// open is the work of processes that may belong to any holder.
	open work
	// openUntold is true if the driver does not measure one of these processes, so that its work is unknown.
	openUntold bool
}

// shareByHolder sums a device's processes by holder. Holders are sorted.
func shareByHolder(processes []gpu.Process, holders []Holding, owner func(pid int) (Container, bool)) shares {
	s := shares{
		holders: make([]work, len(holders)), seen: make([]bool, len(holders)), untold: make([]bool, len(holders)),
	}
	for _, p := range sorted(processes) {
		container, known := owner(p.PID)
		holder, holds := sort.Find(len(holders), func(i int) int { return container.Compare(holders[i].Container) })
		holds = holds && container != Container{}
		switch {
		case !known && !p.Known:
			s.openUntold = true
		case !known:
			s.open.add(p)
		case holds && !p.Known:
			s.untold[holder] = true
		case holds:
			s.seen[holder] = true
			s.holders[holder].add(p)
		}
		if p.Known {
			s.all.add(p)
		}
	}
	return s
}

// figure is a holder's part of a device's figure.
//
// All holders of an idle device are idle. A holder with work has at least that work; the work of a process that ended
// before its owner was read is attributed to no holder. A holder without work is idle only where no such process may
// have been its own, and one without a process only where others account for the device's use.
func (s shares) figure(holder int, device Figure, measure int) Figure {
	own, all := s.holders[holder][measure], s.all[measure]
	switch {
	case !device.Known || device.Value == 0:
		return device
	case s.untold[holder]:
		return Figure{}
	case own > 0:
		return Figure{Value: own * min(1, device.Value/all), Known: true}
	case s.open[measure] > 0 || s.openUntold:
		return Figure{}
	}
	return Figure{Known: all > 0 || s.seen[holder]}
}

// sorted sorts processes, so that their sum does not depend on the order in which the driver reports them.
func sorted(processes []gpu.Process) []gpu.Process {
	return slices.SortedFunc(slices.Values(processes), func(a, b gpu.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Busy, b.Busy), cmp.Compare(a.Bandwidth, b.Bandwidth))
	})
}

// place is the pod and the container of a process according to its /proc/PID/cgroup, for any container runtime, cgroup version and cgroup
// driver. Unknown parts are empty. A process of the node itself has neither.
type place struct {
	// Pod is the pod's UID: of a static pod the hash of its manifest, without dashes.
	Pod string
	// Container is the container's id, 64 hexadecimal digits.
	Container string
	// Relative: the path starts at the reader's own cgroup (a private cgroup namespace), so that common parents, such
	// as the pod, may be missing from it.
	Relative bool
}

// parsePlace reads the most specific line. The file has one for each cgroup hierarchy, HIERARCHY:CONTROLLERS:PATH: a
// dozen under version 1, one under version 2, both on a hybrid node, where a hierarchy of no runtime names no pod.
//
// Below the pod are the container and, where it runs an init system or containers of its own, what is below those. The
// node's kubelet knows the outermost pod and the first container in it.
func parsePlace(file string) place {
	var best place
	for line := range strings.Lines(file) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		_, path, found := strings.Cut(rest, ":")
		if !found {
			continue
		}
		if p := parsePath(path); p.rank() > best.rank() {
			best = p
		}
	}
	return best
}

// rank is higher for a more specific place.
func (p place) rank() int {
	rank := 0
	if p.Container != "" {
		rank++
	}
	if p.Pod != "" {
		rank += 2
	}
	return rank
}

func parsePath(path string) place {
	p := place{Relative: strings.HasPrefix(path, "/../")}
	path = strings.TrimSuffix(path, " (deleted)")
	for segment := range strings.SplitSeq(path, "/") {
		// Without the kubelet's systemd driver, containerd uses a single segment: kubepods-podUID.slice:cri-containerd:ID.
		for name := range strings.SplitSeq(segment, ":") {
			if uid := podUID(name); uid != "" && p.Pod == "" {
				p.Pod, p.Container = uid, "" // A container around the pod is a node: kind, k3d.
			} else if p.Container == "" {
				p.Container = containerID(name)
			}
		}
	}
	return p
}

// podUID returns the UID in a segment. It is podUID with the cgroupfs driver, and NAME-podUID.slice with the systemd driver, which replaces
// dashes by underscores.
func podUID(name string) string {
	name, systemd := strings.CutSuffix(name, ".slice")
	if systemd {
		name = name[strings.LastIndexByte(name, '-')+1:]
	}
	uid, found := strings.CutPrefix(name, "pod")
	uid = strings.ReplaceAll(uid, "_", "-")
	if found && (isUUID(uid) || isHex(uid, 32)) { // The UID of a static pod is a hash.
		return uid
	}
	return ""
}

// containerID returns the id in a segment. It is ID with the cgroupfs driver, and RUNTIME-ID.scope with the systemd driver.
func containerID(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	if id := name[strings.LastIndexByte(name, '-')+1:]; isContainerID(id) {
		return id
	}
	return ""
}

// isContainerID reports whether s is an id of containerd, CRI-O or Docker.
func isContainerID(s string) bool { return isHex(s, 64) }

// isUUID reports whether s is written 8-4-4-4-12 in lower-case hexadecimal digits.
func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		isHex(strings.ReplaceAll(s, "-", ""), 32)
}

// isHex reports whether s is the given number of lower-case hexadecimal digits.
func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}
