package cmdline

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const (
	// ExitFailure is the code of an error without a code of its own.
	ExitFailure = 1
	// NotFound: there is no such object.
	NotFound = 2
	// Findings: something is wrong, failed or was left out.
	Findings = 3
	// Unknown: something could not be checked.
	Unknown = 4
	// Interrupted is the code of interrupted work, as a shell has it for ^C.
	Interrupted = 130
)

// WithExitCode gives an error a code of its own; nil stays nil.
func WithExitCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return coded{error: err, code: code}
}

// IfInterrupted gives an error the code of an interruption where the context has ended.
func IfInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return WithExitCode(Interrupted, err)
	}
	return err
}

// ExitCode is the exit code for what a command returned.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if c := (coded{}); errors.As(err, &c) {
		return c.code
	}
	return ExitFailure
}

// UsageError marks an error as one of the command line, which is reported with a hint at the help. Nil stays nil.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return usage{err}
}

// IsUsage reports whether an error was marked by UsageError.
func IsUsage(err error) bool { return errors.As(err, &usage{}) }

// ChecksError is the error, with its exit code, for checks that found errors or could not all be made; nil if there is neither.
func ChecksError(found, notMade int) error {
	switch {
	case found > 0:
		return WithExitCode(Findings, fmt.Errorf("%s found", humanize.Plural(found, "error")))
	case notMade > 0:
		err := fmt.Errorf("no errors found, but %s could not be made", humanize.Plural(notMade, "check"))
		return WithExitCode(Unknown, err)
	}
	return nil
}

// Args marks the errors of a check of arguments as errors of usage.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return UsageError(check(cmd, args)) }
}

// NoArgs refuses arguments. A command without subcommands says that files are given by flags.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || cmd.HasSubCommands() {
		return UsageError(cobra.NoArgs(cmd, args))
	}
	const text = "%s takes no arguments, but %q is one: its input is given by flags"
	return UsageError(fmt.Errorf(text, cmd.Name(), args[0]))
}

type coded struct {
	error

	code int
}

// Unwrap is the error without its code.
func (c coded) Unwrap() error { return c.error }

type usage struct{ error }

// Unwrap is the error without its mark.
func (u usage) Unwrap() error { return u.error }
