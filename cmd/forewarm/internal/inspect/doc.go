// Package inspect shows what Forewarm observes, forecasts and serves (the command "inspect"): by a client of the inspection
// API, as a table, one outlook in full with a chart, or as JSON, with exit codes for scripts.
//
// It also shows earlier times, by package past.
package inspect
