// Package pods knows which pod holds which GPU, and whose a process is, by what a node itself shows: the kubelet's
// pod-resources socket, the processes' cgroups and the names of the pods' log folders. It asks no API server and holds no
// token.
package pods
