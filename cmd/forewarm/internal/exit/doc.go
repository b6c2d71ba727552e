// Package exit carries what a command's error means for its caller: the exit code, and whether a look at the help would
// mend it.
package exit
