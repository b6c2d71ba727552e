// Package workloads watches the pods of workloads. It finds their starts (when each was created, scheduled, and ready
// for the first time) and whether there are any pods.
//
// The pods of a workload are those that the selector of its scale subresource matches, as for the HPA. Every workload
// that can be scaled has it (a Deployment, a LeaderWorkerSet, whose replicas are the leaders of groups, any future
// kind). It takes one read of one object instead of the right to read every kind of owner, and the API server selects
// by it. Where the kind of the owner is known, the pod must also name it, because the selector may match pods of
// another workload with the same labels.
//
// A workload is scaled to zero if its scale has no replicas and it has no pods. The pods are watched; the scale is
// read when the last pod is deleted.
//
// A living replica is on a node, or waits for one. Replicas counts both, for the warm pools.
//
// The pods of a namespace are watched once for all its workloads. Of each that has a controller and has not ended about 1 kB is
// kept, most of it its labels: they show which pods another selector matches. About 100 bytes more are kept of each pod of a
// workload, and of each start of the last hour.
package workloads
