// Package shutdown lists the signals that stop a command.
package shutdown

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals stop a command gracefully: SIGINT, SIGTERM, and SIGHUP of a closed terminal unless nohup ignores it.
func Signals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
