// Package synth makes traces of demand from a seed and a few parameters: a daily and a weak weekly season, a wandering
// level, bursts, one permanent shift, one outage, and counting noise. The same parameters give the same trace.
package synth
