// Package warmpool says how much GPU capacity to hold ahead of the members of a pool.
//
// What goes in is what the members' forecasts say of two windows, in which a pod comes up on a node that is there, and in
// which a node must come first; what of the demand has a place already; what the pool holds; and the time. What comes out
// is a number of chunks, of each capacity type, with a sentence that gives its numbers. It is pure: what must be remembered
// from one plan to the next is a Memory, which fits into a status.
package warmpool
