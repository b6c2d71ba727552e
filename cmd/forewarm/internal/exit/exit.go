// Package exit carries what a command's error means for its caller: the exit code, and whether a look at the help would
// mend it.
package exit

import (
	"errors"

	"github.com/spf13/cobra"
)

const (
	// Failure is the code of any error that asks for no other.
	Failure = 1
	// Interrupted is the code of work that was interrupted before its end, as the shell has it for ^C.
	Interrupted = 130
)

// With gives an error a code of its own; nil stays nil.
func With(code int, err error) error {
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

// Usage marks an error as one of the command line: its caller is pointed to the help. Nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usage{err}
}

// IsUsage says whether an error was marked by Usage.
func IsUsage(err error) bool { return errors.As(err, &usage{}) }

// Args marks what a check of arguments refuses as an error of usage.
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
