// Package window says what a measure did over the last seconds: its mean, its maximum and its 95th percentile. It is pure, and
// time is an argument.
//
// A sample is the measure's mean since the sample before it, so each counts by the time that it covers: samples come at uneven
// times (a driver's buffer holds six a second on one model and one on another; counters are read once a step), and a busy
// second is a second either way. A sample covers no more than the gap that is allowed: what came before it is not known then,
// and counts for nothing. Of the first there is only the time to the second to go by.
package window
