// Command served records what forewarm serves, for `make test-served`: of recorded workloads and of scenarios (package
// demandtest), by the server's own loop at its own step of 30 s, for the .95 quantile and for an objective of 1 %. A record
// holds hashes, as values that are floored are the demand itself. A change that is to leave the values alone is held to
// them; one that changes them says where.
//
//	check [NAME]               play and compare with the record; the first hour that differs is named
//	check --update [NAME]      write the record anew
//	print NAME/REQUEST         every step of one play: time, observed, served; diff.sh compares it with another revision's
//	loss [NAME]                the pinball loss and the coverage of the quantile that is served of the recorded workloads
//
// The workloads are those of FOREWARM_DATA/outcome/series_15s and FOREWARM_DATA/outcome/workloads of a day and more: on a
// grid of 15 s, by straight lines, without noise, scaled to a mean of 12 replicas that sustain 1000 each, as a rate. In a
// scenario a replica sustains 100 of a gauge. The lead time is 5 m; everything else is as it is where the author of a
// Forecast says nothing. The objective knows an autoscaler; the quantile does not.
//
// Values count to nine digits. They depend neither on how many cores there are nor on the race detector, but on the
// processor: where multiplications and additions are fused (arm64, GOAMD64=v3) the last digits are others, and so, now and
// then, is what is chosen by them. The records are of amd64.
package main
