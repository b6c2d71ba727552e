package demand

import (
	"math"
	"time"
)

// ClassifierConfig is that of a Classifier.
type ClassifierConfig struct {
	// Step between samples, more than 0.
	Step time.Duration
	// Capacity is what maxReplicas replicas sustain, in the demand's unit; 0 where it is unknown.
	Capacity float64
}

// Classifier classifies a demand sample by sample. It is not safe for concurrent use.
type Classifier struct {
	outages outageDetector
	plateau plateau
}

// NewClassifier returns a Classifier without history.
func NewClassifier(c ClassifierConfig) *Classifier {
	return &Classifier{outages: newOutageDetector(c.Step), plateau: newPlateau(c)}
}

// Step classifies the reading of the next step, in constant time and without allocation.
func (s *Classifier) Step(r Reading) Sample {
	if r.Suspect {
		s.outages.addGap()
		return Sample{Value: math.NaN(), Cause: Suspect}
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
