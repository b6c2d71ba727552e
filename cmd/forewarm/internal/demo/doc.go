// Package demo runs all of forewarm on one machine against a simulated workload: a recorded trace, most of which lies
// in the past and is backfilled, and the rest of which is played live and scraped.
package demo
