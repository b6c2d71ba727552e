// Package series keeps the recent demand of one workload on a fixed grid of time steps: bounded, aligned to UTC, a gap
// is NaN and never 0; and of a series of which no more matters, whether it was above 0 (Flags). It also names what can be
// wrong with the answer of a history source, so that sources and the loop share the words without importing each other.
package series
