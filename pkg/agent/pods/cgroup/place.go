package cgroup

import "strings"

// Place is where a process runs; what is not known is empty. A process of the node itself has neither pod nor container.
type Place struct {
	// Pod is the pod's UID: of a static pod the hash of its manifest, without dashes.
	Pod string
	// Container is the container's id, 64 hexadecimal digits.
	Container string
	// Relative: the path begins at the reader's own cgroup (a private cgroup namespace), so that parents that both have, the
	// pod's among them, may not stand in it.
	Relative bool
}

// Parse reads the file. It has a line for each cgroup hierarchy, HIERARCHY:CONTROLLERS:PATH: a dozen under version 1, one
// under version 2, and both on a hybrid node, where a hierarchy that a runtime does not use names no pod. The line that
// says most is believed.
//
// Below the pod come the container and, where it runs an init or containers of its own, what is below those: it is the
// outermost pod, and the first container in it, that the node's kubelet knows.
func Parse(file string) Place {
	var best Place
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

// rank is higher the more is known.
func (p Place) rank() int {
	rank := 0
	if p.Container != "" {
		rank++
	}
	if p.Pod != "" {
		rank += 2
	}
	return rank
}

func parsePath(path string) Place {
	p := Place{Relative: strings.HasPrefix(path, "/../")}
	path = strings.TrimSuffix(path, " (deleted)")
	for segment := range strings.SplitSeq(path, "/") {
		// containerd without the kubelet's systemd driver: kubepods-podUID.slice:cri-containerd:ID in one segment.
		for name := range strings.SplitSeq(segment, ":") {
			if uid := podUID(name); uid != "" && p.Pod == "" {
				p.Pod, p.Container = uid, "" // a container that is around the pod is a node: kind, k3d
			} else if p.Container == "" {
				p.Container = containerID(name)
			}
		}
	}
	return p
}

// podUID of a segment: podUID by the cgroupfs driver, NAME-podUID.slice by systemd's, which writes a dash as an underscore.
func podUID(name string) string {
	name, systemd := strings.CutSuffix(name, ".slice")
	if systemd {
		name = name[strings.LastIndexByte(name, '-')+1:]
	}
	uid, found := strings.CutPrefix(name, "pod")
	if !found {
		return ""
	}
	uid = strings.ReplaceAll(uid, "_", "-")
	if !isUID(uid) {
		return ""
	}
	return uid
}

// isUID says whether s is a pod's UID: 8-4-4-4-12 hexadecimal digits, or 32 of them.
func isUID(s string) bool {
	plain := strings.ReplaceAll(s, "-", "")
	return len(plain) == 32 && isHex(plain) && (len(s) == 32 ||
		len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-')
}

// containerID of a segment: ID by the cgroupfs driver, RUNTIME-ID.scope by systemd's.
func containerID(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	id := name[strings.LastIndexByte(name, '-')+1:]
	if !IsContainerID(id) {
		return ""
	}
	return id
}

// IsContainerID says whether s is written as containerd, CRI-O and Docker name containers.
func IsContainerID(s string) bool { return len(s) == 64 && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
