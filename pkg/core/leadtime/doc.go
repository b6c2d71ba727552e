// Package leadtime measures how long a workload's pods take to start, which is the lead time that a forecast must
// cover.
//
// The input is the state of pods in the Kubernetes API. A PodTracker finds each start in it once. The result is a Record: exponentially
// fading histograms of the durations, and the lead time in use. A Record is only a few dozen numbers, so it fits into the status of a
// Forecast.
//
// The lead time is the 0.9 quantile of all starts, whether they found a node or waited for one. The share of starts that wait for a node is
// a property of the cluster. If one start in five waits, the quantile is the duration of a start that waited. If the cluster has spare
// nodes and only one start in fifty waits, the quantile is the duration of a start that did not wait, and the lead window becomes shorter
// automatically. Every pod counts the same. So a large scale-up, which is what uses up the nodes, counts as often as it has pods.
//
// Both kinds of starts are also counted separately and have lead times of their own (see Estimates). A Forecast that a warm pool covers
// uses the lead time of starts on existing nodes. The size of the pool depends on both. The lead time on existing nodes determines the
// window of a pod, and both together determine the window of a node and a pod.
//
// Starts on nodes that a warm pool held are a third kind. The quantile of all starts does not include them, because it is the lead time
// without the pool. This lead time must still be known if, after months, the pool holds no nodes because its budget is spent.
//
// A lead time does not follow its quantile immediately. It changes only if the quantile differs by more than a tenth, and a change is
// recorded a minute before it takes effect. The Record contains the old and the new value, so all adapter replicas that have read the
// Record agree.
package leadtime
