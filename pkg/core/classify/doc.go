// Package classify decides what each sample of a demand is worth. The observed demand is not always the real one: a
// saturated service hides part of its demand, and during an outage, a rollout or a scrape failure there is nothing to
// observe.
//
//	Reading ──> Classifier: known, censored (a lower bound) or masked, and the cause (classifier.go)
//	              far above all that is credible and not corroborated (package credible) ──> masked
//	              the saturation signal (spec.signal.saturated)                           ──> censored
//	              a plateau at capacity (plateau.go)                                      ──> censored
//	              a sudden, unusual drop to zero (outage.go)                              ──> masked, for a while
//	              below the one before, in a sum that still grows                         ──> masked, until it is complete
//	              no sample, or one that cannot be demand                                 ──> masked
//	        ──> Sample, for the models; Spans, for display (spans.go)
//
// No value is changed, and a credible rise is never masked: a burst is demand. A Classifier looks back only, so later
// samples do not change its results. It is homogeneous of degree 1: demand and capacity twice as large are classified
// the same.
//
// It does not repeat what PromQL does. rate and increase treat a counter that falls as one that restarted at 0, so a
// restart costs at most what was counted between two scrapes. Over a gap shorter than their range they average; over a
// longer one they have no sample. A reset makes delta and deriv negative, which cannot be demand. A rate that is higher
// than its neighbours after a gap may be the requests that had waited: it stays.
package classify
