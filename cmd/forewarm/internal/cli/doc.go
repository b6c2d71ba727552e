// Package cli is the command line of forewarm as a function: arguments in, output and an exit code out.
package cli
