// Package window summarises a measure over the last seconds: its mean, its maximum and its 95th percentile. It is pure;
// time is an argument.
//
// A sample is the measure's mean since the previous sample, so each is weighted by the time that it covers: samples are
// unevenly spaced (a driver's buffer holds six a second on one model and one on another; counters are read once a
// step). A sample covers at most the allowed gap; the time before that is unknown and has no weight. The first sample
// covers as much as the second.
package window
