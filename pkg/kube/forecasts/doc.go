// Package forecasts reads Forecast objects from the Kubernetes API, follows their changes, and writes back what became of
// them.
//
// Objects watches and resolves: it is the refresh loop's set of targets. StatusWriter puts the newest snapshot into each
// object's status, as often as a reader would notice and no oftener. Leadership makes sure that of several replicas one
// writes; losing it stops the writing and nothing else.
//
// What an object's objective is calibrated for are the settings of the autoscalers that refer to it, which sub-package
// autoscalers finds.
//
// The lead time of an object in mode Auto follows from the starts of its workload's pods, which sub-package [workloads] finds,
// as it does whether the workload stands at zero replicas. What every replica has seen, the leader writes into the status;
// what is in the status, every replica uses. So all use the same, and a restart goes on from there. While a warm pool
// stands ready for an object, its lead time is that of starts on nodes that were there: which pools do is asked of Covers,
// and how many replicas have a place, or wait for one, is told to whoever fills the pools by Places and Starts.
package forecasts
