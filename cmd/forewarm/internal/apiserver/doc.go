// Package apiserver serves the Kubernetes APIs on one generic API server: external.metrics.k8s.io,
// custom.metrics.k8s.io, inspect.forewarm.dev, /metrics, /livez and /readyz.
//
// Cluster serves TLS and delegates authentication and authorization of every path to the cluster. Standalone serves the
// same paths as plain HTTP on loopback, where there is no cluster.
package apiserver
