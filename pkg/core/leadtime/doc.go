// Package leadtime measures how long a workload's pods take to start, which is the lead time that a forecast must
// cover.
//
// The input is the state of pods in the Kubernetes API. A PodTracker finds the starts in it, each once. The result is a
// Record: exponentially fading histograms of the durations, and the lead time in use. A Record is a few dozen numbers,
// so that a Forecast's status can hold it.
//
// The lead time is the 0.9 quantile of all starts, whether they found a node or waited for one. The share of starts
// that wait for a node is a property of the cluster: if one start in five waits, the quantile is a start that waited;
// if spare nodes make that one in fifty, the quantile is a start that did not, and the lead window shrinks by itself.
// Every pod counts the same, so a large scale-up, which is what runs out of nodes, counts as often as it has pods.
//
// Both kinds of starts are also counted separately and have lead times of their own: Estimates. A Forecast that a warm
// pool covers uses that of starts on existing nodes. The pool is sized by both: one gives the window of a pod, the two
// together that of a node and a pod.
//
// Starts on nodes that a warm pool held are a third kind, outside the quantile of all. That quantile is the lead time
// without the pool. It must still be known when the pool has worked for months and then holds nothing because its
// budget is spent.
//
// A lead time does not follow its quantile at once. It changes when the quantile differs by a tenth, and is announced a
// minute before its use. Both are in the Record, so that all adapter replicas that have read it agree.
package leadtime
