// Package synth makes traces of demand from a seed and a few parameters: a day and a touch of a week, a wandering level,
// bursts, one lasting shift, one outage, and the noise of counting. The same parameters give the same trace.
package synth
