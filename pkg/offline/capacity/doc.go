// Package capacity estimates what one replica of a service sustains, from the service's own history: the demand per
// ready replica when the service was at its limit, compared with all other times.
//
//	History ──> moments: the load of a replica, and whether the queue grew (moments.go)
//	        ──> the load at which growing becomes likelier than not, or at which a signal stops (curve.go)
//	        ──> an interval, by resampling blocks of the history (bootstrap.go)
//	        ──> Estimate: value, interval, evidence by band of load, a verdict, and sentences (estimate.go)
//
// An Estimate is advice: nothing here scales. If there is too little evidence, the verdict says so.
package capacity
