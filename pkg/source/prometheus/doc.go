// Package prometheus fetches the history of a query from the HTTP API of Prometheus or of a compatible engine (Thanos,
// Mimir, VictoriaMetrics).
//
// A Source answers a query with one series on the query's grid, NaN where there is no sample. A range that is too long
// for one request is fetched in pieces. Values are returned unchanged, infinite and negative ones too; the loop decides
// which of them are demand. If the server is down or slow, or returns several series, a part of an answer, a login page
// or too much, the error wraps a sentinel of package [series] and has an action.
//
// Engines that return a part of the data when a store is down must be configured not to: add ?partial_response=false to
// the URL for Thanos, ?deny_partial_response=1 for VictoriaMetrics. An answer with a warning that it is incomplete is
// an error.
package prometheus
