package decide

import "github.com/forewarm/forewarm/pkg/core/hpa"

// Scaling is one autoscaler that reads the value served.
type Scaling struct {
	// By names it: "HorizontalPodAutoscaler/llama", "ScaledObject/llama", "spec.scaling".
	By string
	// HPA is its arithmetic. It has one metric, the value served, compared with a target AverageValue: what a replica
	// sustains at full capacity.
	HPA hpa.Spec
	// Candidate is the one whose forecast it asks for (a selector's model=...), by its canonical name; empty for the one that
	// is selected.
	Candidate string
}

// Target is what a replica sustains, in the demand's unit.
func (s Scaling) Target() float64 { return float64(s.HPA.Metrics[0].Target) / 1000 }

// Usable is the largest value that changes anything: what all replicas that there may be sustain.
func (s Scaling) Usable() float64 { return s.Target() * float64(s.HPA.Max) }

// MaxScalings bounds the autoscalers that one Forecast is calibrated for.
const MaxScalings = 4

// Usable is the largest value that changes anything for any of the autoscalers; 0 without one.
func Usable(all []Scaling) float64 {
	most := 0.0
	for _, s := range all {
		most = max(most, s.Usable())
	}
	return most
}
