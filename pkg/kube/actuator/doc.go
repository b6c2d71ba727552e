// Package actuator holds the chunks of a warm pool in a cluster: by placeholder pods (PlaceholderPods), by requests
// to the cluster's autoscaler (CapacityBuffer), or by the replicas of another object (Scale). Each call is
// idempotent. Objects are applied on the server side under one field manager, and owned by the pool. Dispatcher
// selects the actuator that a pool's spec names.
package actuator
