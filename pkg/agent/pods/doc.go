// Package pods attributes the use of GPUs to pods. It reads only the node: the kubelet's pod-resources socket (which
// pod holds which GPU), the processes' cgroups and the names of the pods' log folders (which pod a process belongs to).
// It calls no API server and holds no token.
package pods
