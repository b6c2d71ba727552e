// Package decide turns what the models say about the lead window into the one value to serve, with its margin and its
// reason. It is a pure function of its inputs: the refresh loop, the selectors of a request and the simulator
// all call the same Decide.
//
// There are two ways to a value. A quantile is asked for outright: serve that quantile of the window's maximum. Or an
// objective says how much demand may be late: serve q50 + k·(q95 − q50), held for half the lead time, where k is the
// multiple that leads to as much lateness and no less (package outcome).
package decide
