// Package server puts the parts of forewarm together: where history comes from, which Forecasts there are, the loop, and
// the faces that serve its snapshots.
package server
