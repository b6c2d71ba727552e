// Package actuator holds the chunks of a warm pool in a cluster: by placeholder pods (Balloon), by asking the cluster's
// autoscaler (CapacityBuffer), or by the replicas of something else (Scale). Each can be told the same thing any number of
// times; what it makes is applied on the server side under one field manager and owned by the pool. ByKind chooses between
// them as a pool's spec says.
package actuator
