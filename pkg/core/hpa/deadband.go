package hpa

import "math"

// DeadBand is a range of values, above From up to To, that an HPA ignores although its replicas do not sustain them: they are within
// its tolerance. Both are 0 where there is none.
type DeadBand struct{ From, To float64 }

// resolution is that of the values that an HPA reads.
const resolution = 0.001

// DeadBand returns that of an HPA with so many replicas, in the unit of its first metric, whose target is an AverageValue: another
// target, or an HPA at its maximum, has none.
//
// The least value that is not ignored may start more replicas than one. From 20 it starts 3, with a tolerance of 0.1; a demand of 20.5
// would then stop 2 of them at once. Values that are too small for what they would start are therefore not in the range.
func (s *Spec) DeadBand(replicas int32) DeadBand {
	m := &s.Metrics[0]
	if m.Type != AverageValue || replicas < 1 || replicas >= s.Max {
		return DeadBand{}
	}
	up, down := s.Tolerances()
	ignored := float64(replicas) * (1 + up)
	started := math.Min(math.Floor(ignored)+1, float64(s.Max))
	// What more than so many replicas sustain keeps all that are started.
	kept := math.Max(float64(replicas), math.Min(started*(1-down), started-1))
	target := float64(m.Target) * resolution
	return DeadBand{From: target * kept, To: target * ignored}
}

// Pass returns the least value that is surely not ignored in place of one in the range; others as they are.
func (b DeadBand) Pass(value float64) float64 {
	if value > b.From && value <= b.To {
		return (math.Round(b.To/resolution) + 1) * resolution
	}
	return value
}
