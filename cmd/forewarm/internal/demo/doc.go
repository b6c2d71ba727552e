// Package demo runs the whole of forewarm on one machine against a workload that it plays itself: a recorded trace,
// most of which lies in the past and is backfilled, and the rest of which goes on live and is scraped.
package demo
