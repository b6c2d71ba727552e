// Package inspectcmd is the command that shows what forewarm observes, forecasts and serves: the outlooks of a server
// as a table, one of them in full with a chart, or as JSON, with exit codes for scripts.
package inspectcmd
