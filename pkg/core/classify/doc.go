// Package classify says what each sample of a demand is worth. What was read is not always what was asked of the workload: a
// service at its limit hides what it cannot serve, and while it is down, deployed anew or out of sight there is nothing
// to be seen of it.
//
//	reading ──> Screen: known, a lower bound, or masked, and why (screen.go)
//	              far above all that is credible (package credible) ──> masked, unless it is corroborated
//	              a limit signal (spec.signal.saturated)        ──> lower bound
//	              a plateau at capacity (plateau.go)            ──> lower bound
//	              a sudden, unusual fall to nothing (outage.go) ──> masked, for a while
//	              no sample, or one that cannot be demand       ──> masked
//	        ──> Sample, for the models; Spans, for the eyes (spans.go)
//
// No value is ever changed, and what rises credibly is never masked: a burst is demand. A Screen looks back only, so that what it
// says of a sample does not depend on what comes after it; and it is homogeneous of degree 1: a demand and a capacity
// twice as large are judged alike.
//
// What PromQL has done before is not done again. rate and increase take a counter that falls for one that began anew at 0,
// so a restart costs them at most what came between two scrapes; over a gap shorter than their range they average what
// was counted, over a longer one they have no sample. What is left of a reset in delta or deriv is negative, and so no
// demand. A rate that is above its neighbours after a gap may be the requests that had waited: it stays.
package classify
