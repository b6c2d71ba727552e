package testcluster

import (
	"testing"
	"time"
)

// Eventually waits until a check is empty, which says what is still missing. It looks again after a moment, for so long in
// moments.
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
