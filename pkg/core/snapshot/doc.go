// Package snapshot holds what every API serves: one immutable Snapshot of all Forecasts behind one atomic pointer, the
// Store. The refresh loop publishes; the APIs load and answer from memory, so that a request never causes a query or a
// fit. An API that pushes waits on a channel for the next snapshot.
package snapshot
