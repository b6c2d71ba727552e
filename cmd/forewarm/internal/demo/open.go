package demo

import (
	"context"
	"os/exec"
	"time"
)

// browser is the command that opens a page in the user's browser.
func browser(system, url string) []string {
	switch system {
	case "darwin":
		return []string{"open", url}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	return []string{"xdg-open", url}
}

// openPage runs the command. One that still runs after some seconds is the browser itself, which may outlive the demo.
func openPage(ctx context.Context, command []string) error {
	const patience = 5 * time.Second
	run := exec.CommandContext(
		context.WithoutCancel(ctx),
		command[0],
		command[1:]...,
	) //nolint:gosec // A command of browser.
	if err := run.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case err := <-ended:
		return err
	case <-limit.Done():
		return nil
	}
}
