// Package prometheus fetches the history of a query from the HTTP API of Prometheus or of a compatible engine (Thanos,
// Mimir, VictoriaMetrics).
//
// A Source answers a query with one series on the query's grid, NaN where there is no sample. A range that is too long
// for one request is fetched in pieces. Values are returned unchanged, infinite and negative ones too; the loop decides
// which of them are demand. If the server is down or slow, or returns several series, a part of an answer, a login page
// or too much, the error wraps a sentinel of package [series] and has an action.
//
// Some engines return a part of the data while a store behind them is down. Thanos then adds a warning, also with
// ?partial_response=false, and vmselect of VictoriaMetrics the field isPartial. Such an answer is an error. A store that
// the engine itself has forgotten cannot be seen here: docs/stores.md has the settings.
package prometheus
