// Package fleets plans the GPUFleets of a cluster.
//
//	Watch: the GPUFleets of all namespaces
//	Cluster: what their GPUs are counted from: nodes, ClusterQueues and the pods that request GPUs
//	Planner: every step, in every replica of Forewarm: plans each fleet (package [fleet]), and fills a fleet.Store
//	StatusWriter: the leader writes statuses, events and metrics from the newest plans
//
// Equal inputs have equal plans, so that all replicas serve the same numbers. Nothing is kept in the objects for the next leader.
//
// What is unknown makes less spare, never more: members without a reliable forecast count with all replicas that they may have, and a fleet
// whose GPUs are unknown serves nothing.
package fleets
