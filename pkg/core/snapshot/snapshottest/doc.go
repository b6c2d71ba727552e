// Package snapshottest makes snapshots for the tests of faces: Forecasts in every state, with a day of demand, a path,
// candidates and distributions that hang together as the refresh loop's do. All of it is fixed: the same call gives the
// same snapshot, at the time Now.
package snapshottest
