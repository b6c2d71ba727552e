// Package capacity estimates what one replica of a service sustains from the service's own history: the demand for each
// ready replica at the moments when the service came to its limit, beside all the others.
//
//	History ──> moments: the load of a replica, and whether the queue grew (moments.go)
//	        ──> the load at which growing becomes likelier than not (curve.go), or at which a signal stops (plateau.go)
//	        ──> an interval, by resampling blocks of the history (bootstrap.go)
//	        ──> Estimate: value, interval, evidence by band of load, a verdict, and sentences (estimate.go, words.go)
//
// Nothing here scales anything: an Estimate is advice, and one that has too little to go by says so instead.
package capacity
