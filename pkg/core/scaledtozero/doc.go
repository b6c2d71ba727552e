// Package scaledtozero records when a workload was scaled to zero. A signal that comes from the replicas disappears
// with them: a missing sample at such a time is demand 0, at any other a gap.
//
// The input is whether the workload has zero replicas, each time it is observed. The result is a Record, which answers
// for every second of the past and the next seconds. The demand's history does not contain this: a workload that is
// scaled to zero every night would otherwise have a gap every night. A Record is two numbers per period at zero, so
// that a Forecast's status can hold it.
package scaledtozero
