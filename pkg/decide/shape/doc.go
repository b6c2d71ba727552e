// Package shape learns what the maximum of a demand over the lead window will be: its median and its 95 % quantile, by
// linear quantile regression on what is known now. The margin between what is served and the median is a multiple of the
// distance of the two; how large a multiple is package margin's business.
//
//	sample ──> Features: O(1) summaries of the past, each in the demand's unit (features.go)
//	       ──> rows with the maximum that came, once it is known, in a ring (ring.go)
//	       ──> two regressions, refitted every few hours from a pooled prior (learner.go)
//	       ──> Window: median and spread
//
// Every feature is homogeneous of degree 1: a demand twice as large has features twice as large, so that what was learnt
// on other workloads holds for any unit. There is no clock: time is the number of steps.
package shape
