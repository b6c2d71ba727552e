package leadtime_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// All clocks of a cluster are wrong for a while, or the leader's alone. Once they are right again starts count as
// before, and the lead time follows within minutes.
func TestClockStepsLeadTimes(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour} {
		for about, dated := range map[string]time.Duration{"every clock": off, "the leader's clock": 0} {
			recent, record := &leadtime.RecentStarts{}, &leadtime.Record{}
			now := noon()
			play := func(n int, took, off, dated time.Duration) {
				t.Helper()
				for range n {
					recent.Add(start(now.Add(dated), took))
					now = now.Add(time.Minute)
					record.AddStarts(recent.List(), now.Add(off))
					lead := record.LeadTime(now.Add(off))
					if lead < 0 || lead > 2*time.Hour || record.Validate() != nil {
						t.Fatalf("%s by %s: lead time %s, %v", about, off, lead, record.Validate())
					}
				}
				now = now.Add(10 * time.Minute)
			}
			play(20, 3*time.Minute, 0, 0)
			play(20, 10*time.Minute, off, dated)
			now = now.Add(
				max(0, min(off, 2*time.Hour)),
			) // Counting may stall for as long as the clock was off, not longer.
			before := record.Starts()
			play(200, 6*time.Minute, 0, 0)
			if got := record.Starts() - before; got < 150 {
				t.Errorf("%s by %s: %d starts of 200 are counted afterwards", about, off, got)
			}
			if lead := record.LeadTime(now); lead < 5*time.Minute || lead > 11*time.Minute {
				t.Errorf("%s by %s: the lead time is %s", about, off, lead)
			}
			if since := time.Unix(record.Lead.Since, 0); since.After(now) {
				t.Errorf("%s by %s: a lead time from %s on, it is %s", about, off, since, now)
			}
		}
	}
}
