// Package workloads watches the pods of workloads. It finds their starts (when each was created, scheduled, and ready
// for the first time) and whether there are any pods.
//
// As with the HPA, the pods of a workload are the pods that the selector of its scale subresource matches. Every workload
// that can be scaled has this selector: a Deployment, a LeaderWorkerSet (whose replicas are the leaders of groups), and any
// future kind. Reading it takes one request, and no permission to read every kind of owner. If the kind of the owner is
// known, the pod must also refer to the owner, because the selector can match pods of another workload with the same labels.
//
// A workload is scaled to zero if its scale has no replicas and it has no pods. The pods are watched; the scale is
// read when the last pod is deleted.
//
// A living replica is on a node, or waits for one. Replicas counts both, for the warm pools and the fleets. It also counts replicas that
// are terminating, because they hold their GPUs until they end.
//
// Each namespace has one watch of its pods, for all its workloads. Each pod that has a controller and has not ended takes about 1 kB of
// memory. Most of this is the labels, which are needed to find the pods that other selectors match. Each pod of a workload, and each
// start in the last hour, takes about 100 bytes more.
package workloads
