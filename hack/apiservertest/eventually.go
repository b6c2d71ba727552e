package apiservertest

import (
	"fmt"
	"testing"
	"time"
)

// Eventually polls a check, which returns what is still missing, until it is empty. The test fails after the timeout.
func Eventually(tb testing.TB, patience time.Duration, check func() string) {
	tb.Helper()
	const moment = 50 * time.Millisecond
	missing := ""
	for range int(patience / moment) {
		if missing = check(); missing == "" {
			return
		}
		time.Sleep(moment)
	}
	tb.Fatalf("after %s still: %s", patience, missing)
}

// Differs is a check that a value is as wanted.
func Differs[T comparable](what string, got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s: %v, want %v", what, got, want)
}
