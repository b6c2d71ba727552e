// Package refresh is the loop between history and snapshot. At every step it fetches new samples from the source, steps
// each Forecast's forecaster, applies the fallback chain and publishes one immutable snapshot.
//
// A Forecast's state depends on its history alone. It is rebuilt at anchors from the history before them and stepped
// from there; a new loop starts at the last anchor and replays. So a restart loses nothing, and adapter replicas agree
// without communication. Each Forecast has at most one query in flight; a slow query delays only its own Forecast.
package refresh
