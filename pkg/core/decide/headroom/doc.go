// Package headroom finds the headroom multiplier at which the share of the demand that is late meets an objective. Lateness is
// measured, not derived: for each multiplier of a grid a simulated autoscaler plays the observed demand. Lateness is rare, so
// a prior from other workloads counts until enough is observed.
package headroom
