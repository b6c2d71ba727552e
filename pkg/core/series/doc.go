// Package series stores the recent demand of one workload on a fixed grid of steps: bounded, aligned to UTC, with gaps
// as NaN and never 0. The package also defines the errors of history
// sources, so that sources and the loop share them without importing each other.
//
// It also computes statistics of the newest values of a series, step by step: mean and maximum. The
// candidates ([github.com/forewarm/forewarm/pkg/core/windowpeak]) and the simulated policies share them.
package series
