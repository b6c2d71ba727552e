// Package owners says whose a process is, by what a node shows of it: its cgroup names the container, and the names of the
// log files that the kubelet keeps name the container's pod. It needs neither an API server nor the container runtime.
package owners
