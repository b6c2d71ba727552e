// Package refresh is the loop between history and snapshot: at every step it asks the source for what is new, steps each
// Forecast's forecaster, applies the fallback ladder and publishes one immutable snapshot.
//
// A Forecast's state is a function of its history alone: at anchors (see anchorAt) it is rebuilt from the history before,
// and stepped from there; a newcomer begins at the last anchor and replays. So a restart loses nothing and replicas agree
// without talking. Each Forecast has at most one query under way; one that is slow delays only itself.
package refresh
