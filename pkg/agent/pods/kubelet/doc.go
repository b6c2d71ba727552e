// Package kubelet lists which containers hold which GPUs, from a node's kubelet over its pod-resources socket: through
// a device plugin, whole or as replicas, or through a resource claim.
package kubelet
