package manifest

import (
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// ClusterState is what the cluster knows of an object's workload when the object is resolved.
type ClusterState struct {
	LeadTime MeasuredLeadTime
	// Autoscalers are the metrics of autoscalers that name the object; read only.
	Autoscalers []Reference
	// Exposed are those that name it by its alias; read only. Empty where another object answers under that alias.
	Exposed []Reference
	// UnreadReason is why there may be more autoscalers; empty where all were read.
	UnreadReason string
	// Events are those of its namespace that it has, each valid; read only.
	Events []calendar.Event
	// KeepServedPeaks: it is a member of a fleet.
	KeepServedPeaks bool
}

// Equal reports whether two states are equal. Lists are compared by their identity.
func (s ClusterState) Equal(other ClusterState) bool {
	return s.LeadTime == other.LeadTime && s.UnreadReason == other.UnreadReason &&
		s.KeepServedPeaks == other.KeepServedPeaks &&
		identical(s.Autoscalers, other.Autoscalers) && identical(s.Exposed, other.Exposed) &&
		identical(s.Events, other.Events)
}

func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// references returns all autoscalers that refer to the object. An object may expose its own name, so a metric that uses this alias is not
// added a second time under the name.
func (s ClusterState) references() []Reference {
	if len(s.Exposed) == 0 {
		return s.Autoscalers
	}
	named := slices.DeleteFunc(slices.Clone(s.Autoscalers),
		func(r Reference) bool { return r.Alias == s.Exposed[0].Alias })
	return append(named, s.Exposed...)
}

// NoCluster is the state of an object in a folder: no pods and no autoscalers are known.
func NoCluster() ClusterState {
	return ClusterState{
		LeadTime:     MeasuredLeadTime{Source: "pods are not watched without a cluster"},
		UnreadReason: "autoscalers are not read without a cluster",
	}
}

// MeasuredLeadTime is what was measured of the starts of an object's workload when the object is resolved.
type MeasuredLeadTime struct {
	// Lead is the lead time that mode Auto uses; 0 for the fallback.
	Lead time.Duration
	// Median of the starts; 0 if it is not known.
	Median time.Duration
	// Source is what was measured, or why nothing was, in words.
	Source string
	// Pool is the warm pool that the lead time depends on; empty where there is none.
	Pool string
}

// resolve returns the lead time of mode Auto and its source, for a job that was read with its fallback. A measurement must not make a valid
// object invalid, so it is clamped to the range that step and history allow.
func (m MeasuredLeadTime) resolve(t *refresh.Job) (lead time.Duration, source string) {
	if m.Lead == 0 {
		return t.Lead, t.LeadSource + ": " + m.Source
	}
	rest := leadtime.Window(0) + t.Delay
	least := max(time.Second, t.Step-rest)
	most := min(MaxLead, MaxWindowSteps*t.Step-rest, t.History/2-rest)
	lead = min(max(m.Lead, least), most)
	if lead != m.Lead {
		return lead, fmt.Sprintf("%s; %s is limited to what a step of %s and a history of %s allow",
			m.Source, formatDuration(m.Lead), formatDuration(t.Step), formatDuration(t.History))
	}
	return lead, m.Source
}
