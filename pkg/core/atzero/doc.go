// Package atzero remembers when a workload stood at zero replicas. A signal that comes from the replicas ends with them:
// its absence at such a time is demand 0, at any other a gap.
//
// What goes in is whether the workload stands at zero, as often as somebody looks; what comes out is a Record, which says
// it of every second, the past as well as the next ones. The history of the demand does not hold this, and a workload that
// sleeps at night would else have every night as a gap, for as long as the history reaches. A Record is two numbers for each
// time at zero, so that a Forecast's status can hold it.
package atzero
