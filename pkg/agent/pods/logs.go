package pods

import (
	"io/fs"
	"strings"
)

// logNames finds a container's pod by the names of the kubelet's log files:
//
//	containers/POD_NAMESPACE_CONTAINER-ID.log       a link for each container
//	pods/NAMESPACE_POD_UID/CONTAINER                a folder for each container
//
// Only the first has the container's id. It exists before the container's first process, but is cut at 255 characters.
type logNames struct {
	logs fs.FS
	// stale is true if the folders may be listed once more.
	stale      bool
	containers map[string]Container // By id.
	pods       map[string]pod       // By UID.
}

// pod is a pod's name and the folder of its containers' logs.
type pod struct{ namespace, name, folder string }

// container returns a container by its id.
func (n *logNames) container(id string) (Container, bool) {
	c, found := n.containers[id]
	if !found && n.list() {
		c, found = n.containers[id]
	}
	return c, found
}

// onlyContainer returns the container of a pod that has a single one. The names do not identify one of several containers.
func (n *logNames) onlyContainer(uid string) (Container, bool) {
	p, found := n.pods[uid]
	if !found && n.list() {
		p, found = n.pods[uid]
	}
	containers, err := fs.ReadDir(n.logs, "pods/"+p.folder)
	if !found || err != nil || len(containers) != 1 {
		return Container{}, false
	}
	return Container{Namespace: p.namespace, Pod: p.name, Name: containers[0].Name()}, true
}

// list lists the folders and reports whether it did. A folder that cannot be read counts as empty.
func (n *logNames) list() bool {
	if !n.stale {
		return false
	}
	n.stale = false
	n.containers, n.pods = map[string]Container{}, map[string]pod{}
	links, _ := fs.ReadDir(n.logs, "containers") //nolint:errcheck // Entries from before the error are valid.
	for _, link := range links {
		if id, c, ok := parseLink(link.Name()); ok {
			n.containers[id] = c
		}
	}
	folders, _ := fs.ReadDir(n.logs, "pods") //nolint:errcheck // Likewise.
	for _, folder := range folders {
		if uid, p, ok := parseFolder(folder.Name()); ok {
			n.pods[uid] = p
		}
	}
	return true
}

// parseLink parses POD_NAMESPACE_CONTAINER-ID.log. No name in Kubernetes contains an underscore.
func parseLink(link string) (id string, c Container, ok bool) {
	base, isLog := strings.CutSuffix(link, ".log")
	parts := strings.Split(base, "_")
	if !isLog || len(parts) != 3 {
		return "", Container{}, false
	}
	dash := strings.LastIndexByte(parts[2], '-')
	if dash < 1 || parts[0] == "" || parts[1] == "" || !isContainerID(parts[2][dash+1:]) {
		return "", Container{}, false
	}
	return parts[2][dash+1:], Container{Namespace: parts[1], Pod: parts[0], Name: parts[2][:dash]}, true
}

// parseFolder parses NAMESPACE_POD_UID.
func parseFolder(folder string) (uid string, p pod, ok bool) {
	parts := strings.Split(folder, "_")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return "", pod{}, false
	}
	return parts[2], pod{namespace: parts[0], name: parts[1], folder: folder}, true
}
