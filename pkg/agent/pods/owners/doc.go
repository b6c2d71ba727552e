// Package owners maps processes to containers, from a node's files: a process's cgroup names the container, and the
// names of the kubelet's log files name the container's pod. It needs neither an API server nor the container runtime.
package owners
