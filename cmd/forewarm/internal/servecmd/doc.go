// Package servecmd is the command that runs forewarm: flags in, one validated set of options, and the server until it is
// told to stop.
package servecmd
