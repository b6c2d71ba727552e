// Package doctorcmd is the command that says what is wrong with a Forewarm in a cluster, and how to mend it.
package doctorcmd
