// Package warmpool computes how much GPU capacity a warm pool holds ahead for its members.
//
// The inputs are the members' forecasts over two windows (that of a pod on an existing node, and that of a node and a
// pod), their replicas that have a place or wait for one, the pool's capacity, and the time. The result is a number of
// chunks, per capacity type, with a sentence that has the numbers. The package is pure: the state between two plans is
// a Memory, which fits into a status.
package warmpool
