// Package kubelet asks a node's kubelet, over its pod-resources socket, which containers hold which GPUs: by a device
// plugin, whole or as replicas, or by a resource claim.
package kubelet
