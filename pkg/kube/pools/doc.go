// Package pools reconciles the WarmPools of a cluster.
//
// A Watch watches the pools, on every replica: a Forecast that a pool covers looks ahead less far. A Controller runs
// on the leader only. At each step it plans every pool from its members' forecasts (package [warmpool]), holds the
// plan in mode Enforce (a Dispatcher, below), and writes the status: numbers, a message, conditions, and the memory
// from which the next leader continues.
//
// The conditions and their reasons are constants of package [v1alpha1].
//
// # Release
//
// A pool is marked before it holds anything, until everything was released: when the mode becomes Recommend again, and
// on deletion. What a pool owns, Kubernetes deletes with it; a pool that sets the scale of another object has a finalizer,
// too, until the scale is restored. A pool that becomes invalid keeps what it holds until it is corrected.
//
// # Holding
//
// A Dispatcher holds a pool's chunks by the actuator that its spec names: placeholder pods (PlaceholderPods), requests to
// the cluster's autoscaler (CapacityBuffer), or the replicas of another object (Scale). Each call is idempotent. Objects
// are applied on the server side under one field manager, and owned by the pool.
package pools
