package demand

import (
	"math"
	"time"
)

// Classifier classifies a demand sample by sample. It is not safe for concurrent use.
type Classifier struct {
	outages outageDetector
	plateau plateau
}

// NewClassifier returns a Classifier without history, for samples that are a step apart. The capacity is what maxReplicas replicas sustain,
// in the demand's unit; 0 if it is unknown.
func NewClassifier(step time.Duration, capacity float64) *Classifier {
	return &Classifier{outages: newOutageDetector(step), plateau: newPlateau(step, capacity)}
}

// IsOutage reports whether the next demand would be masked as an outage.
func (s *Classifier) IsOutage(v float64) bool { return s.outages.isOutage(v) }

// Step classifies the reading of the next step, in constant time and without allocation.
func (s *Classifier) Step(r Reading) Sample {
	v, masked := r.Demand, Cause(0)
	switch {
	case r.Suspect:
		masked = Suspect
	case r.Dip:
		masked = Dip
	case r.Incomplete:
		masked = Incomplete
	case !(v >= 0) || math.IsInf(v, 0): // True for NaN.
		masked = Missing
	}
	if masked != 0 {
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: masked}
	}
	if !r.ScaledToZero && s.outages.isOutage(v) {
		faded := 1 - s.outages.left()
		s.outages.addMasked()
		return Sample{Value: math.NaN(), Cause: Outage, Faded: faded}
	}
	flat := s.plateau.add(v)
	switch {
	case r.Saturated:
		s.outages.addCensored(v)
		return Sample{Value: v, Cause: Saturated}
	case flat:
		s.outages.addCensored(v)
		return Sample{Value: v, Cause: AtCapacity}
	}
	s.outages.addKnown(v)
	return Sample{Value: v}
}
