// Package agent is the command line of forewarm-agent. The driver is an argument, so this package needs no cgo.
package agent
