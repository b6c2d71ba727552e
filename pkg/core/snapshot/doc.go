// Package snapshot holds what every face serves: one immutable Snapshot of all Forecasts behind one atomic pointer, the
// Board. The refresh loop publishes; faces load and answer from memory, so that a request never causes a query or a fit. A
// face that pushes waits for the next snapshot on a channel.
package snapshot
