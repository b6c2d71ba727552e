// Package members finds out what the cluster knows about a Forecast that another object lists as its member: a WarmPool or a GPUFleet.
package members

import (
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Scaling is how the autoscalers of a member turn demand into replicas, and how many there are.
type Scaling struct {
	// Target is the demand that a replica sustains, in the demand's unit.
	Target float64
	// Min and Max are the highest limits of the autoscalers. Unlimited: one of them has no maximum.
	Min, Max  int
	Unlimited bool
	// Placed replicas have a place on a node; Waiting replicas have none yet.
	Placed, Waiting int
}

// Problem is why nothing can be planned for a member. Doubt and Advice continue a sentence that begins with the name of a Forecast. The zero
// value is no problem.
type Problem struct{ Reason, Doubt, Advice string }

// Workloads has what the snapshot does not have of a Forecast: its workload's replicas and autoscalers.
type Workloads interface {
	// Replicas returns how many replicas are on a node, and how many wait for a node; known is false while that is unknown.
	Replicas(forecast snapshot.Key) (placed, waiting int, known bool)
	// Autoscalers returns the autoscalers that turn the Forecast's value into replicas.
	Autoscalers(forecast snapshot.Key) []decide.Autoscaler
}

// Resolve returns how a member is scaled, and what is unknown about it. entry is nil if there is no such Forecast. If only the replicas
// cannot be counted, the rest of the Scaling is valid.
func Resolve(key snapshot.Key, entry *snapshot.ForecastSnapshot, of Workloads) (Scaling, Problem) {
	if entry == nil {
		return Scaling{}, Problem{
			v1alpha1.PoolReasonForecastNotFound, "is missing", "is not a Forecast in " + key.Namespace +
				": correct the name, or create the Forecast",
		}
	}
	scalings := of.Autoscalers(key)
	if len(scalings) == 0 {
		return Scaling{}, Problem{
			v1alpha1.PoolReasonNoScalingTarget, "without an autoscaler", "is not read by an autoscaler, so " +
				"Forewarm does not know how much demand a replica sustains: let a HorizontalPodAutoscaler or a " +
				"ScaledObject read this Forecast, or set its spec.scaling.target",
		}
	}
	// If there are several autoscalers, the largest number of replicas wins.
	out := Scaling{Target: decide.SmallestTarget(scalings)}
	for _, s := range scalings {
		out.Min, out.Max = max(out.Min, int(s.HPA.Min)), max(out.Max, int(s.HPA.Max))
		out.Unlimited = out.Unlimited || s.HPA.Max <= 0
	}
	if placed, waiting, known := of.Replicas(key); known {
		out.Placed, out.Waiting = placed, waiting
		return out, Problem{}
	}
	return out, Uncounted()
}

// Uncounted is the problem of a member whose replicas cannot be counted.
func Uncounted() Problem {
	return Problem{
		v1alpha1.PoolReasonReplicasUnknown, "has replicas that Forewarm cannot count",
		"has replicas that Forewarm cannot count: see status.leadTimeSource of the Forecast",
	}
}
