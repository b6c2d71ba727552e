package leadtime

import "time"

// unmeasured is what passes besides the lead time between a rise of demand and the replicas that serve it, where it was
// not measured: up to one HPA sync (15 s), one step (30 s) and the lag of the metric (30 s).
const unmeasured = 75 * time.Second

// Window is the lead window W over which the maximum of demand is forecast, for a lead time.
func Window(lead time.Duration) time.Duration { return lead + unmeasured }
