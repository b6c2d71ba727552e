package warmpool

import "time"

// slack is what passes besides the lead time between a rise of demand and the replicas that serve it: the autoscaler's
// sync, one step, and the lag of the metric. It is that of the lead window of a Forecast (package refresh).
const slack = 75 * time.Second

// Window is the time over which the maximum of demand is planned for, for a lead time.
func Window(lead time.Duration) time.Duration { return lead + slack }
