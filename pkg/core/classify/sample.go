package classify

import (
	"github.com/forewarm/forewarm/pkg/core/credible"
)

// Kind is what a sample is worth.
type Kind uint8

const (
	// Known: the demand was this.
	Known Kind = iota
	// LowerBound: the demand was this or more, because the service was at its limit (right-censored).
	LowerBound
	// Masked: nothing is known of the demand.
	Masked
)

// String is the kind as the inspection API writes it.
func (k Kind) String() string {
	switch k {
	case LowerBound:
		return "LowerBound"
	case Masked:
		return "Masked"
	default:
		return "Known"
	}
}

// Cause is why a sample is not simply known. The zero Cause is none: the sample is known.
type Cause uint8

const (
	// AtLimit: the limit signal was above 0.
	AtLimit Cause = iota + 1
	// AtCapacity: the demand has stayed at the capacity of all replicas that there may be.
	AtCapacity
	// Outage: the demand fell to nothing at once, which it usually does not.
	Outage
	// Missing: there is no sample, or one that cannot be demand (negative, infinite).
	Missing
	// Suspect: the demand was far above all that history had shown, and was not corroborated (package credible).
	Suspect
)

// Kind of the samples with this cause.
func (c Cause) Kind() Kind {
	switch c {
	case AtLimit, AtCapacity:
		return LowerBound
	case Outage, Missing, Suspect:
		return Masked
	default:
		return Known
	}
}

// String says it in words.
func (c Cause) String() string {
	switch c {
	case AtLimit:
		return "the limit signal says that the service was saturated"
	case AtCapacity:
		return "the demand stayed at the capacity of all replicas that there may be"
	case Outage:
		return "the demand fell to nothing at once, as it usually does not: an outage, until it has lasted"
	case Missing:
		return "there was no sample, or none that can be demand"
	case Suspect:
		return "the demand was far above all that its history had shown, and not for long enough to be believed"
	default:
		return ""
	}
}

// Reading is what was read at a step.
type Reading struct {
	// Demand, NaN where there is no sample.
	Demand float64
	// Suspect: it was far above all that is credible, and was not corroborated.
	Suspect bool
	// Saturated: the limit signal was above 0.
	Saturated bool
	// Asleep: the workload stood at zero replicas, so that no demand is no outage.
	Asleep bool
}

// Sample is a step's demand and what it is worth.
type Sample struct {
	// Value is the demand, or the least that it was; NaN where it is masked.
	Value float64
	Cause Cause
	// Bound is the most that the history up to the sample justifies; the zero Bound is none.
	Bound credible.Bound
}

// Kind of the sample.
func (s Sample) Kind() Kind { return s.Cause.Kind() }
