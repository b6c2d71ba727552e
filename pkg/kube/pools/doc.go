// Package pools reconciles the WarmPools of a cluster.
//
// Every replica of Forewarm runs a Watch, which watches the pools, because a Forecast looks ahead less far while a pool
// covers it. Only the leader runs a Controller. At each step the Controller plans every pool from the forecasts of its
// members (package [warmpool]). In mode Enforce it then holds the planned chunks (see Dispatcher below). Finally it writes
// the status: numbers, a message, conditions, and the memory from which the next leader continues.
//
// The conditions and their reasons are constants of package [v1alpha1].
//
// # Release
//
// A pool is marked before it holds anything. The mark stays until everything is released, which happens when the mode
// changes back to Recommend and when the pool is deleted. Kubernetes deletes the objects that a pool owns together with
// the pool. A pool that sets the scale of another object also has a finalizer until the scale is restored. A pool that
// becomes invalid keeps what it holds until it is corrected.
//
// # Holding
//
// A Dispatcher holds the chunks of a pool through the actuator in its spec: placeholder pods (PlaceholderPods), requests to
// the autoscaler of the cluster (CapacityBuffer), or the replicas of another object (Scale). Each call is idempotent.
// Objects are written with server-side apply under one field manager, and are owned by the pool.
package pools
