// Package ending holds what ends a command.
package ending

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals end a command in good order: ^C, what a system sends, and that of a terminal that is closed, unless the command was
// started by nohup, which has that one ignored.
func Signals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
