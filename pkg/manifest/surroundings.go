package manifest

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Surroundings are what is known of an object's workload in its cluster when the object is resolved.
type Surroundings struct {
	Starts Measured
	// Autoscalers are the metrics of autoscalers that name the object; read only.
	Autoscalers []autoscaler.Reference
	// Unread says why there may be more of them; empty where all were read.
	Unread string
}

// Same says whether two surroundings are the same; their autoscalers are where they are the very same list.
func (s Surroundings) Same(other Surroundings) bool {
	n := len(s.Autoscalers)
	return s.Starts == other.Starts && s.Unread == other.Unread && n == len(other.Autoscalers) &&
		(n == 0 || &s.Autoscalers[0] == &other.Autoscalers[0])
}

// Folder are the surroundings of an object in a folder: there are no pods and no autoscalers to look at.
func Folder() Surroundings {
	return Surroundings{
		Starts: Measured{Words: "no pods are watched for a Forecast in a folder"},
		Unread: "no autoscalers are looked for in a folder",
	}
}

// Measured is what is known of the starts of an object's workload when the object is resolved.
type Measured struct {
	// Lead is the lead time that mode Auto uses; 0 for the fallback.
	Lead time.Duration
	// Words say what was measured, or why nothing was.
	Words string
	// Pool is the warm pool that makes the lead time hold; empty where none does.
	Pool string
}

// lead is the lead time of mode Auto and where it comes from, for a target that has been read with its fallback. What was
// measured must not make an object invalid that its author wrote well; so it is held to what step and history allow.
func (m Measured) lead(t *refresh.Target) (lead time.Duration, source string) {
	if m.Lead == 0 {
		return t.Lead, t.LeadSource + ": " + m.Words
	}
	rest := leadtime.Window(0)
	least := max(time.Second, t.Step-rest)
	most := min(MaxLead, MaxWindowSteps*t.Step-rest, t.History/2-rest)
	lead = min(max(m.Lead, least), most)
	if lead != m.Lead {
		return lead, fmt.Sprintf("%s; it is %s, held to what a step of %s and a history of %s allow",
			m.Words, say(m.Lead), say(t.Step), say(t.History))
	}
	return lead, m.Words
}

// Workload is what an object scales, and whether its starts are to be measured.
func Workload(object *v1alpha1.Forecast) (workload leadtime.Workload, measured bool) {
	spec := defaulted(&object.Spec)
	return workloadOf(object.Namespace, spec), spec.LeadTime.Mode == v1alpha1.LeadTimeAuto
}

// workloadOf is what a defaulted spec scales.
func workloadOf(namespace string, spec *v1alpha1.ForecastSpec) leadtime.Workload {
	ref := spec.TargetRef
	return leadtime.Workload{Namespace: namespace, APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
}
