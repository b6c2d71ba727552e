// Package variant shares the value for a demand out among several workloads that serve it together, each with a capacity, a price and a
// lead time of its own: reserved and spot, two node pools, two kinds of GPU.
//
//	value ──> base: the slow variants that are cheaper than the first hold what lasts, by their prices (plan.go)
//	      ──> what of the base is ready, by a simulated HPA (plan.go)
//	      ──> the rest: the others by their price, at once (share.go)
//
// The parts that count add up to the value. What a slow variant has been asked for and what is not ready yet comes on top.
package variant
