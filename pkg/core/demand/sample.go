package demand

import "time"

// Kind is the class of a sample, as the inspection API writes it.
type Kind string

const (
	// Known: the demand is the observed one.
	Known Kind = "Known"
	// Censored: the demand was at least the observed one, because the service was saturated (right-censored).
	Censored Kind = "Censored"
	// Masked: the demand is unknown.
	Masked Kind = "Masked"
)

// Cause is why a sample is censored or masked. The zero Cause is that of a known sample.
type Cause uint8

const (
	// Saturated: the saturation signal was above 0.
	Saturated Cause = iota + 1
	// AtCapacity: the demand stayed at the capacity of maxReplicas.
	AtCapacity
	// Outage: the demand suddenly dropped to zero, which is unusual for the workload.
	Outage
	// Missing: there is no sample, or one that cannot be demand (negative, infinite).
	Missing
	// Suspect: the demand was far higher than its history justifies, and was not confirmed.
	Suspect
	// Incomplete: the demand was lower than before, and the source still adds to samples of its age.
	Incomplete
	// Ignored: an event says that models must not learn from this demand.
	Ignored
	// Dip: the demand fell further than usual, or fell after a gap, and did not stay low.
	Dip
)

// Kind returns the class of samples with this cause.
func (c Cause) Kind() Kind {
	switch c {
	case Saturated, AtCapacity:
		return Censored
	case Outage, Missing, Suspect, Incomplete, Ignored, Dip:
		return Masked
	default:
		return Known
	}
}

// String describes the cause; empty for a known sample.
func (c Cause) String() string {
	switch c {
	case Saturated:
		return "the saturation signal was above 0"
	case AtCapacity:
		return "the demand stayed at the capacity of maxReplicas"
	case Outage:
		return "the demand suddenly dropped to zero, which is unusual for this workload: probably an outage"
	case Missing:
		return "there was no sample, or the sample was invalid"
	case Suspect:
		return "the demand was far higher than its history justifies, and was not confirmed"
	case Incomplete:
		return "the source still adds to samples of this age, so a lower sample is not used yet"
	case Ignored:
		return "an event says that models must not learn from this demand"
	case Dip:
		return "the demand fell further than usual, or fell after a gap, and has not stayed low for long enough to be believed"
	default:
		return ""
	}
}

// Span is a time in which samples were censored or masked.
type Span struct {
	// From is the time of the first sample, To the end of the last one.
	From, To time.Time
	Cause    Cause
	// Samples is the number of samples of the cause; the others in between are known.
	Samples int
}

// Reading is the input of one step. A Filter adds Suspect, Dip and Bound.
type Reading struct {
	// Demand as it was read, NaN where there is no sample.
	Demand float64
	// Suspect: the demand was far higher than its history justifies, and was not confirmed.
	Suspect bool
	// Dip: the demand fell as it had not before, or after a gap, and did not stay there.
	Dip bool
	// Bound is the most that was justified at its time; for a reading that was corroborated later, before it.
	Bound Bound
	// Incomplete: the source still adds to samples of this age, and the demand is below the one before.
	Incomplete bool
	// Times and AtLeast come from an event: this multiple of the credible demand, or at least this much, is credible immediately.
	Times, AtLeast float64
	// Saturated: the saturation signal was above 0.
	Saturated bool
	// Deferrable is the work that arrived in addition to the demand and may wait until its deadline; NaN for a gap.
	Deferrable float64
	// ScaledToZero: the workload had zero replicas, so that no demand is not an outage.
	ScaledToZero bool
}

// Sample is the classified demand of a step.
type Sample struct {
	// Value is the demand or its lower bound; NaN where it is masked.
	Value float64
	// Observed is the mean of the newest values, for a rate; NaN for a gap. Censored: it and Value are lower bounds, as a saturated
	// service hides part of its demand.
	Observed float64
	Censored bool
	Cause    Cause
	// Deferrable is the Reading's.
	Deferrable float64
	// Faded is the share of the demand before an outage that does not count any more, from 0 to 1.
	Faded float64
	// Bound is the most that the history up to the sample justifies; the zero Bound limits nothing.
	Bound Bound
}
