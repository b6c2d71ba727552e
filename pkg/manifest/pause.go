package manifest

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// pause reads the annotation of an object whose autoscalers are known. An annotation that cannot be read does not pause the object, because
// a typo must not change what is served.
func pause(object *v1alpha1.Forecast, target *refresh.Job) decide.Pause {
	text, written := object.Annotations[v1alpha1.PauseAnnotation]
	paused, err := strconv.ParseBool(text)
	switch {
	case written && err != nil:
		const invalid = `the annotation %s is %.64q, so the Forecast is not paused: write "true", or remove it`
		return decide.Pause{Invalid: fmt.Sprintf(invalid, v1alpha1.PauseAnnotation, text)}
	case paused:
		return pauseAsBefore(target.Baseline, target.Autoscalers, target.Uncapped)
	}
	return decide.Pause{}
}

// pauseAsBefore returns a pause with a value that is high enough that no autoscaler has fewer replicas than the previous HPA would have.
func pauseAsBefore(before decide.Baseline, autoscalers []decide.Autoscaler, others bool) decide.Pause {
	stabilization := hpa.DefaultCluster().DownscaleStabilization
	capacity, least, own := 0.0, math.Inf(1), time.Duration(math.MaxInt64)
	for i := range autoscalers {
		target := autoscalers[i].Target()
		capacity, least = max(capacity, target), min(least, target)
		own = min(own, autoscalers[i].HPA.DownStabilization())
	}
	share := humanize.ShareAsWritten(objective.AssumedTarget)
	assumed := decide.Pause{
		Capacity: 1, Target: objective.AssumedTarget, Hold: stabilization,
		Source: "Forewarm assumes that the previous HPA had a target of " + share + " of what a replica sustains",
	}
	if capacity == 0 {
		assumed.Assumed = "Forewarm does not know what a replica sustains: for an exact value, let an HPA or a " +
			"ScaledObject refer to the Forecast, or set spec.scaling.target; also set spec.scaling.before"
		return assumed
	}
	p := assumed
	p.Capacity, p.Target, p.Least = capacity, objective.AssumedTarget*capacity, float64(before.Min)*capacity
	if !others { // The stabilization of autoscalers that are not used is unknown.
		p.Hold = max(0, stabilization-own)
	}
	if before.Target == 0 {
		p.Assumed = "for an exact value, set spec.scaling.before.target"
		return p
	}
	p.Target = before.Target
	p.Source = fmt.Sprintf("a replica sustains %s, and the target of the previous HPA was %s (spec.scaling.before)",
		humanize.Number(capacity), humanize.Number(before.Target))
	switch {
	case others:
		p.Assumed = "autoscalers with unknown targets also read the Forecast, so Forewarm assumes a previous target " +
			"of at most " + share +
			" of what a replica sustains: forewarm explain says what is wrong with an HPA"
		if assumed.Capacity/assumed.Target > p.Capacity/p.Target {
			p.Target = objective.AssumedTarget * capacity
		}
	case least < capacity:
		p.Assumed = "autoscalers with lower targets get more replicas than with the previous HPA: for an exact " +
			"value, give all autoscalers the same target"
	}
	return p
}
