// Package workloads watches the pods of workloads in a cluster. It finds their starts (when each was created, scheduled,
// and ready for the first time) and whether there are any pods at all.
//
// Which pods are a workload's is asked of its scale sub-resource, whose selector names the pods that the HPA counts as
// replicas. That is the one answer that every workload gives which can be scaled at all (a Deployment, a LeaderWorkerSet,
// whose replicas are the leaders of groups, a kind that does not exist yet), it takes one read of one object instead of
// the right to read every kind of owner, and the API server can select by it: pods of others never come here. Where the
// kind of the owner is known, the pod must name it as well, because a selector may match pods of another workload that
// carries the same labels.
//
// A workload stands at zero where its scale asks for no replicas and it has no pods. The pods come by the watch; the scale
// is read when the last of them goes.
//
// A replica that lives has a place on a node, or waits for one: Places counts both, for whoever holds places ahead of them.
//
// Of a pod nothing is kept but whether it was ready before, whether it lives and whether it has a node, about 100 bytes, and
// as many for each start of the last hour: the watch goes straight to package [leadtime], without an informer and its copies.
package workloads
