package main

import (
	"fmt"
	"io"
	"syscall"
	"time"
)

// cpu is the CPU time that the process has used, in all of its threads.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// progress prints the progress of a row at each 5 %.
func progress(words io.Writer, what string, done, all int) {
	if done == all || done*20/all != (done-1)*20/all {
		fmt.Fprintf(words, "%s: %d of %d\n", what, done, all)
	}
}
