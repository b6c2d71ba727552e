// Package fleet turns replicas into GPUs and dollars: which shape of GPU serves a demand at the least price, onto how many
// whole GPUs the fractions of several workloads go, and what it saves to keep a part of the replicas on spot.
//
//	Shape, Trial   a replica's capacity, GPUs and price; what came of it; the cheapest (shape.go)
//	Load, Pack     fractions of GPUs, exact, onto whole ones (load.go, pack.go), as MIG has them (mig.go)
//	Market, Divide a base on demand, the rest on spot (spot.go)
//
// It is arithmetic: what a shape comes to is played by package simulate.
package fleet
