// Package history reads the history of a demand that a command judges by: a column of a trace file, or a range of a
// Prometheus. Whatever is wrong with it is an error that says what, where and what to do; what was left out or taken for
// a gap is told beside the series, for it may change a verdict.
package history
