// Package snapshot contains the data that every API serves: one immutable Snapshot of all Forecasts behind one atomic pointer, the Store.
// The refresh loop publishes snapshots. The APIs load the newest one and answer from memory, so that a request never causes a query or a
// fit. An API that pushes updates waits on a channel for the next snapshot.
package snapshot
