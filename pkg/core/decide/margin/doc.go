// Package margin finds the multiple of the spread at which a share of the demand is late that the user has asked for.
// What lateness a multiple leads to is measured, not derived: each multiple of a grid runs a shadow of the workload, with
// its own HPA, pods and queue, on the demand that was observed. Lateness lives in the tail and is scarce, so a table of
// what happened on other workloads stands in until enough was seen.
package margin
