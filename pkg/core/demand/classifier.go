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

// NewClassifier returns a Classifier without history, of samples a step apart. The capacity is what maxReplicas replicas
// sustain, in the demand's unit; 0 where it is unknown.
func NewClassifier(step time.Duration, capacity float64) *Classifier {
	return &Classifier{outages: newOutageDetector(step), plateau: newPlateau(step, capacity)}
}

// IsOutage reports whether the next demand would be masked as an outage.
func (s *Classifier) IsOutage(v float64) bool { return s.outages.isOutage(v) }

// Step classifies the reading of the next step, in constant time and without allocation.
func (s *Classifier) Step(r Reading) Sample {
	if r.Suspect {
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: Suspect}
	}
	if r.Dip {
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: Dip}
	}
	if r.Incomplete {
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: Incomplete}
	}
	v := r.Demand
	if !(v >= 0) || math.IsInf(v, 0) { // NaN is not.
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: Missing}
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
