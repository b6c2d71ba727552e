// Package inspectcmd is the command that shows what forewarm sees and says: the outlooks of a server as a table, one of
// them in full with a chart, or as JSON, with exit codes that scripts can use.
package inspectcmd
