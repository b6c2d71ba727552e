// Package inspect shows what Forewarm observes, forecasts and serves (the command "inspect"): by a client of the inspection
// API, as a table, one outlook in full with a chart, or as JSON, with exit codes for scripts.
//
// It also shows earlier times (past.go): what was served and done then, by the gauges that a Prometheus has recorded; and
// what today's spec would have served, by the server's own loop on the history until then.
package inspect
