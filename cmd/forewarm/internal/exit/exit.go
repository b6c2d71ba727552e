// Package exit adds to a command's error its exit code, and whether it is one of usage, so that the help is of use.
package exit

import (
	"errors"

	"github.com/spf13/cobra"
)

const (
	// Failure is the code of an error without a code of its own.
	Failure = 1
	// Interrupted is the code of interrupted work, as a shell has it for ^C.
	Interrupted = 130
)

// WithCode gives an error a code of its own; nil stays nil.
func WithCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return coded{error: err, code: code}
}

// Code is the exit code for what a command returned.
func Code(err error) int {
	if err == nil {
		return 0
	}
	if c := (coded{}); errors.As(err, &c) {
		return c.code
	}
	return Failure
}

// Usage marks an error as one of the command line, which is reported with a hint at the help. Nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usage{err}
}

// IsUsage reports whether an error was marked by Usage.
func IsUsage(err error) bool { return errors.As(err, &usage{}) }

// Args marks the errors of a check of arguments as errors of usage.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return Usage(check(cmd, args)) }
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
