// Package warmpool computes how much GPU capacity a warm pool holds in advance for its members.
//
// The inputs are the members' forecasts over two windows, their placed and waiting replicas, the pool's capacity, and the time. The first
// window is the time that a pod needs on an existing node. The second window is the time for a node and a pod. The result is a number of
// chunks for each capacity type, with a sentence that explains the numbers. The package is pure: the state between two plans is a Memory,
// which fits into a status.
package warmpool
