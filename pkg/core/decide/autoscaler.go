package decide

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Autoscaler is one autoscaler that reads the served value.
type Autoscaler struct {
	// Name, for example "HorizontalPodAutoscaler/llama", "ScaledObject/llama" or SpecScaling.
	Name string
	// HPA is its specification. It has one metric, the served value. The target is an AverageValue: the demand that a replica sustains.
	HPA hpa.Spec
	// Candidate is the canonical name of the candidate that it requests (model=... in its selector). It is empty for the selected
	// candidate.
	Candidate string
}

// Target is the demand that a replica sustains.
func (s Autoscaler) Target() float64 { return float64(s.HPA.Metrics[0].Target) / 1000 }

// MaxCapacity is the demand that maxReplicas sustain: a larger value changes nothing.
func (s Autoscaler) MaxCapacity() float64 { return s.Target() * float64(s.HPA.Max) }

// MaxAutoscalers bounds the autoscalers that one Forecast is calibrated for.
const MaxAutoscalers = 4

// MaxCapacity returns the largest MaxCapacity of the autoscalers; 0 if there are none.
func MaxCapacity(all []Autoscaler) float64 {
	most := 0.0
	for _, s := range all {
		most = max(most, s.MaxCapacity())
	}
	return most
}

// smallestTarget returns the smallest target of the autoscalers in thousandths; 0 if there are none.
func smallestTarget(all []Autoscaler) int64 {
	least := int64(0)
	for i := range all {
		if target := all[i].HPA.Metrics[0].Target; i == 0 || target < least {
			least = target
		}
	}
	return least
}

// SmallestTarget returns the smallest target of the autoscalers, in the demand's unit; 0 if there are none. With several autoscalers, this one
// asks for the most replicas.
func SmallestTarget(all []Autoscaler) float64 { return float64(smallestTarget(all)) / 1000 }

// ValueOf returns the value for which the autoscaler with the smallest target runs a number of replicas. It is 0 if there is no autoscaler,
// or if the value would be too large for a metric. An HPA rounds up both the value, to thousandths, and the replicas, so the value in
// thousandths is never above the product: with a target of 7.333, 3 replicas are 21.999.
func ValueOf(all []Autoscaler, replicas int32) float64 {
	milli := float64(smallestTarget(all)) * float64(replicas)
	value := milli / 1000
	if value*1000 > milli {
		value = math.Nextafter(value, 0)
	}
	if _, valid := hpa.Milli(value); !valid {
		return 0
	}
	return value
}

// Baseline is how a workload was scaled before Forewarm: by an HPA on the observed demand.
type Baseline struct {
	// Target is the demand for each replica, in the demand's unit; 0 if it was not specified.
	Target float64
	// Min is minReplicas; 0 for minReplicas of the autoscaler that reads the value.
	Min int32
}

// SpecScaling is the name of an autoscaler that the Forecast itself describes, because no autoscaler that reads the value is known.
const SpecScaling = "spec.scaling"
