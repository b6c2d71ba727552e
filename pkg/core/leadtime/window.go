package leadtime

import "time"

// unmeasured is the rest of the lead window, which is not measured: up to one HPA sync (15 s), one step (30 s) and the
// metric's lag (30 s).
const unmeasured = 75 * time.Second

// Window returns the lead window of a lead time: the time over which the maximum of demand is forecast.
func Window(lead time.Duration) time.Duration { return lead + unmeasured }
