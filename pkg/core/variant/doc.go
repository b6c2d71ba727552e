// Package variant splits the value for a demand across several workloads that serve it together. Each of these variants has its own
// capacity, price and lead time. Examples are reserved and spot nodes, two node pools, or two kinds of GPU.
//
//	value ──> base: slow variants that are cheaper than the first serve the lasting part, depending on their prices (plan.go)
//	      ──> how much of the base is ready, according to a simulated HPA (plan.go)
//	      ──> the rest: the other variants serve it immediately, the cheapest first (share.go)
//
// The parts that are ready add up to the value. The part that a slow variant is still starting is added on top.
package variant
