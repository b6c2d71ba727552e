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
		Source: "an HPA before is assumed, with " + share + " of what a replica sustains as its target",
	}
	if capacity == 0 {
		assumed.Assumed = "it is unknown what a replica sustains: to make it exact let an HPA or a ScaledObject " +
			"refer to the Forecast, or set spec.scaling.target, and set spec.scaling.before"
		return assumed
	}
	p := assumed
	p.Capacity, p.Target, p.Least = capacity, objective.AssumedTarget*capacity, float64(before.Min)*capacity
	if !others { // The stabilization of autoscalers that are not used is unknown.
		p.Hold = max(0, stabilization-own)
	}
	if before.Target == 0 {
		p.Assumed = "to make it exact set spec.scaling.before.target"
		return p
	}
	p.Target = before.Target
	p.Source = fmt.Sprintf("a replica sustains %s, and the target before was %s (spec.scaling.before)",
		humanize.Number(capacity), humanize.Number(before.Target))
	switch {
	case others:
		p.Assumed = "autoscalers with unknown targets read it, too, so that the ratio is at least that of " + share +
			": forewarm explain names what is wrong with an HPA"
		if assumed.Capacity/assumed.Target > p.Capacity/p.Target {
			p.Target = objective.AssumedTarget * capacity
		}
	case least < capacity:
		p.Assumed = "autoscalers with lower targets have more replicas than before: equal targets make it exact"
	}
	return p
}
