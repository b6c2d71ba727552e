// Package agent is the command line of forewarm-agent, with the driver handed in: it needs no cgo itself.
package agent
