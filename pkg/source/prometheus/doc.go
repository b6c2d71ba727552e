// Package prometheus reads the history of a query from the HTTP API of Prometheus, or of an engine that speaks it
// (Thanos, Mimir, VictoriaMetrics).
//
// A Source answers one query with one series on the grid that was asked for, NaN where there is no sample; ranges that
// are too long for one request are fetched in pieces. Values are passed as they come, infinite and negative ones too:
// what of them is demand is the loop's business. Whatever else a server may do — be down, slow, answer many series,
// half an answer, no answer at all, a login page, far too much — costs an error that wraps a sentinel of package [series]
// and says what to do.
//
// Engines that answer with part of the data when a store is down must be told not to: with Thanos put
// ?partial_response=false at the end of the URL, with VictoriaMetrics ?deny_partial_response=1. Where the answer
// carries a warning that it is incomplete, it is an error here.
package prometheus
