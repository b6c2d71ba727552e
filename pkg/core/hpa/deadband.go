package hpa

import "math"

// DeadBand is the range of values above From, up to To, that an HPA ignores because they are within its tolerance, although its replicas do
// not sustain them. Both are 0 if there is no such range.
type DeadBand struct{ From, To float64 }

// resolution is the resolution of the values that an HPA reads.
const resolution = 0.001

// DeadBand returns the dead band of an HPA with the given number of replicas, in the unit of its first metric. It is empty if the target is
// not an AverageValue, and at maxReplicas.
//
// The smallest value that the HPA does not ignore may start more than one replica. With 20 replicas, a target of 1 and a tolerance of 0.1,
// this value is just above 22 and starts 3 replicas. If the demand is only 20.5, the HPA would then stop 2 of them again immediately.
// Therefore, values that are too small to keep the replicas that would be started are not in the range.
func (s *Spec) DeadBand(replicas int32) DeadBand {
	m := &s.Metrics[0]
	if m.Type != AverageValue || replicas < 1 || replicas >= s.Max {
		return DeadBand{}
	}
	up, down := s.Tolerances()
	ignored := float64(replicas) * (1 + up)
	started := math.Min(math.Floor(ignored)+1, float64(s.Max))
	// If the demand is above what this many replicas sustain, the HPA keeps all replicas that it started.
	kept := math.Max(float64(replicas), math.Min(started*(1-down), started-1))
	target := float64(m.Target) * resolution
	return DeadBand{From: target * kept, To: target * ignored}
}

// Pass returns the smallest value that the HPA surely does not ignore if value is in the range, and value itself otherwise.
func (b DeadBand) Pass(value float64) float64 {
	if value > b.From && value <= b.To {
		return (math.Round(b.To/resolution) + 1) * resolution
	}
	return value
}
