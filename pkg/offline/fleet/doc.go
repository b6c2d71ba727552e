// Package fleet turns replicas into GPUs and dollars: the cheapest shape of GPU for a demand, the number of whole
// GPUs for fractions of several workloads, and the savings of running some replicas on spot.
//
//	Shape, ShapeResult      a replica's capacity, GPUs and price; the result; the cheapest (shape.go)
//	Load, Pack              exact fractions of GPUs onto whole ones (load.go, pack.go), with MIG's sizes (sharing.go)
//	SpotMarket, SplitFleet  a base on demand, the rest on spot (spot.go)
//
// It only computes: package simulate simulates the shapes.
package fleet
