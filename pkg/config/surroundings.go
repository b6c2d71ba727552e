package config

import (
	"github.com/forewarm/forewarm/pkg/config/autoscaler"
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
