package classify

import (
	"math"
	"time"
)

// Config of a Screen.
type Config struct {
	// Step between samples, more than 0.
	Step time.Duration
	// Capacity is what all replicas that there may be sustain, in the demand's unit; 0 where it is not known.
	Capacity float64
}

// Screen judges a demand sample by sample. It is not safe for concurrent use.
type Screen struct {
	falls   falls
	plateau plateau
}

// NewScreen has seen nothing yet.
func NewScreen(c Config) *Screen {
	return &Screen{falls: newFalls(c.Step), plateau: newPlateau(c)}
}

// Step says what the reading of the next step is worth: in constant time, without allocation.
func (s *Screen) Step(r Reading) Sample {
	if r.Suspect {
		s.falls.miss()
		return Sample{Value: math.NaN(), Cause: Suspect}
	}
	v := r.Demand
	if !(v >= 0) || math.IsInf(v, 0) { // NaN is not.
		s.falls.miss()
		return Sample{Value: math.NaN(), Cause: Missing}
	}
	if !r.Asleep && s.falls.doubts(v) {
		s.falls.mask()
		return Sample{Value: math.NaN(), Cause: Outage}
	}
	flat := s.plateau.holds(v)
	switch {
	case r.Saturated:
		s.falls.bound(v)
		return Sample{Value: v, Cause: AtLimit}
	case flat:
		s.falls.bound(v)
		return Sample{Value: v, Cause: AtCapacity}
	}
	s.falls.accept(v)
	return Sample{Value: v}
}
