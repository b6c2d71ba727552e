// Package snapshottest provides snapshots for tests of the APIs: Forecasts in every state, with a day of demand, a
// path, candidates and distributions that are consistent like the refresh loop's. All of it is fixed: the same call
// returns the same snapshot, at the time Now.
package snapshottest
