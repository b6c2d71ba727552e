// Package cgroup reads from a process's /proc/PID/cgroup which pod and container it runs in, whichever container runtime,
// cgroup version and cgroup driver the node has.
package cgroup
