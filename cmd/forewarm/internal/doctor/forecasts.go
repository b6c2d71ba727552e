package doctor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// checkForecasts: what does Forewarm itself say of each Forecast?
func checkForecasts(_ context.Context, _ *Doctor, s *state) []Finding {
	if len(s.forecasts) == 0 && s.listed {
		return []Finding{{
			Check:   "Forecasts",
			Level:   Skipped,
			Message: "there is no Forecast",
			Remedy:  "create one (docs/quickstart.md)",
		}}
	}
	var out []Finding
	for i := range s.forecasts {
		out = append(out, stateOf(&s.forecasts[i])...)
	}
	return out
}

// stateOf is what is wrong with a Forecast by its own conditions, or that nothing is.
func stateOf(f *v1alpha1.Forecast) []Finding {
	object := "Forecast " + f.Namespace + "/" + f.Name
	finding := func(check string, level Level, c *metav1.Condition, remedy string) Finding {
		return Finding{Check: check, Level: level, Object: object, Message: c.Reason + ": " + c.Message, Remedy: remedy}
	}
	conditions := f.Status.Conditions
	ready := meta.FindStatusCondition(conditions, snapshot.ConditionReady)
	if ready == nil {
		return []Finding{{
			Check: "Forecasts", Level: Error, Object: object, Message: "Forewarm has written no status",
			Remedy: "wait a minute; else check that a replica leads and may (the checks Deployment, Leader and Rights)",
		}}
	}
	var out []Finding
	source := meta.FindStatusCondition(conditions, snapshot.ConditionSource)
	failing := source != nil && source.Status == metav1.ConditionFalse
	if failing {
		out = append(out, finding("Source", Error, source, sourceRemedy(source.Reason)))
	}
	switch state := snapshot.State(ready.Reason); {
	case state == snapshot.Invalid:
		out = append(out, finding("Forecasts", Error, ready, "correct the Forecast"))
	case failing: // The state follows from it.
	case ready.Status != metav1.ConditionTrue:
		level := Error
		if state.Serves() {
			level = Warning
		}
		out = append(out, finding("Forecasts", level, ready, "see docs/reference/conditions.md#ready"))
	case state == snapshot.Warming:
		out = append(out, finding("History", Warning, ready, "wait, or read from a Prometheus with a longer retention"))
	}
	for _, kind := range []string{
		snapshot.ConditionData, snapshot.ConditionSignal, snapshot.ConditionSaturated, snapshot.ConditionUncalibrated,
		snapshot.ConditionExposed,
	} {
		// Data that is clean and a signal that is plausible are no finding; demand that is saturated is one.
		good := metav1.ConditionFalse
		if kind == snapshot.ConditionData || kind == snapshot.ConditionSignal || kind == snapshot.ConditionExposed {
			good = metav1.ConditionTrue
		}
		c := meta.FindStatusCondition(conditions, kind)
		if c == nil || c.Status == good {
			continue
		}
		out = append(out, finding("Forecasts", Warning, c, "see docs/reference/conditions.md, "+kind))
	}
	if c := meta.FindStatusCondition(conditions, snapshot.ConditionPaused); c != nil {
		remedy := fmt.Sprintf("forewarm resume -n %s %s (docs/rollout.md)", f.Namespace, f.Name)
		out = append(out, sinceWhen(finding("Forecasts", Warning, c, remedy), c))
	}
	if len(out) == 0 {
		out = append(out, Finding{Check: "Forecasts", Level: OK, Object: object, Message: "is " + ready.Reason})
	}
	return out
}

// sinceWhen says of a pause since when it is one.
func sinceWhen(paused Finding, c *metav1.Condition) Finding {
	if c.Status == metav1.ConditionTrue {
		paused.Message = "is paused since " + c.LastTransitionTime.UTC().
			Format("2006-01-02 15:04 UTC") +
			": " + c.Message
	}
	return paused
}

func sourceRemedy(reason string) string {
	switch reason {
	case snapshot.ReasonNoSeries:
		return "forewarm doctor --prometheus URL says which part of the query has no series"
	case snapshot.ReasonUnavailable:
		return "check --prometheus-url of Forewarm's Deployment, and that a NetworkPolicy lets it reach the Prometheus"
	case snapshot.ReasonClockBehind:
		return "set the clocks of the nodes"
	case snapshot.ReasonPending:
		return "wait"
	}
	return "see docs/reference/conditions.md#sourcehealthy"
}
